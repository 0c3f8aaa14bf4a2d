#include "apps/run/run_state.hpp"

#include "apps/report/timeline.hpp"
#include "apps/run/residual_mass.hpp"
#include "apps/run/solve_remedy.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/observe/chrome_trace.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace quarkstar::app {

std::string file_of_rank(const std::string& file) {
  const runtime::mpi::Job& job = runtime::mpi::Job::current();
  std::filesystem::path path(file);
  if (!job.is_root()) path.replace_filename(fmt::format("{}.rank{}{}", path.stem().string(), job.rank(), path.extension().string()));
  return path.string();
}

void write_trace(runtime::Session& session, const RunConfig& config) {
  if (config.trace.empty()) return;
  session.wait_all();
  runtime::write_chrome_trace(session, session.events(), file_of_rank(config.trace));
}

bool RunState::begins(const std::vector<RightHandSide>& group) {
  const auto has_begun = [this](const RightHandSide& side) { return sources[side.source].begun; };
  const bool does = !begins_nothing_anywhere(watch) || std::any_of(group.begin(), group.end(), has_begun);
  for (const RightHandSide& side : group) (does ? sources[side.source].begun : left_out) = true;
  return does;
}

void RunState::set_up() {
  if (is_set_up) return;
  is_set_up = true;
  setup.ended("solver");
  for (const SourceState& source : sources) source.run.report.setup = setup;
  if (!config.json.empty()) profile.emplace(session);  // it costs every task some clock readings, and only the JSON shows it
}

void RunState::make_smearers() {
  smearers.clear();
  for (const runtime::Decomposition& island : islands)
    smearers.push_back(gauge != nullptr ? std::make_unique<QuarkSmearers>(island, *gauge, config.smearings()) : nullptr);
}

void RunState::require_convergence(const std::vector<RightHandSide>& group, const std::vector<SolveResult>& results) {
  const RunReport* first = nullptr;
  for (std::size_t v = 0; v < group.size(); ++v) {
    RunReport& report = sources[group[v].source].run.report;
    if (results[v].converged()) continue;
    if (first == nullptr) first = &report;
    if (!report.failure.empty()) continue;
    report.failure = failure_of(group[v], results[v]);
    tell_workers(report);
  }
  if (first == nullptr) return;
  end_with_failure((sources.size() > 1 ? fmt::format("source {}, ", text_of(first->config.source)) : "") + first->failure);
}

void RunState::end_with_failure(const std::string& failure) {
  write_trace(session, config);
  throw runtime::mpi::SharedError(ErrorKind::numerical, "", failure, "");
}

std::string RunState::failure_of(const RightHandSide& side, const SolveResult& result) const {
  const auto mass = named_mass(side.mass);
  return fmt::format("{}{}: {} ended after {} iterations with |b - M x| / |b| = {:.3e} above {:g}: {}; {}",
                     kind.text_of_column(side.column), mass ? fmt::format(", {} {}", kind.mass_key, *mass) : "", config.solver.solver,
                     result.iterations, result.true_residual, config.solver.tolerance, describe(result.reason),
                     remedy_for(result.reason, config));
}

void RunState::keep_timeline(bool among_others) const {
  session.wait_all();
  record_timeline(session, first_report());
  if (among_others && config.trace.empty()) session.events().set_detail(runtime::Events::Detail::totals);
}

void RunState::tell_workers(RunReport& report) {
  if (&report != &first_report()) {
    report.workers = first_report().workers;
    report.timeline = first_report().timeline;
  }
  report.resplits = adaptive.resplits();
  report.islands = of_islands;
  if (profile) record_worker_times(*profile, report);
}

void RunState::conclude(SourceState& source, std::size_t island, bool more) {
  RunReport& report = source.run.report;
  bring_into_order(report.solves, order);
  tell_workers(report);
  if (runtime::mpi::Job::current().is_distributed()) session.wait_all();  // files are for times without messages
  report.correlators = source.correlators.correlators();
  add_residual_mass(report);
  source.run.done(std::exchange(source.propagators, {}), {islands[island], smearers[island].get(), more});
}

}  // namespace quarkstar::app
