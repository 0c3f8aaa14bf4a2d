#include "apps/run/group_files.hpp"

#include "apps/run/parse.hpp"
#include "apps/run/report.hpp"
#include "apps/run/shared_settings.hpp"
#include "runtime/mpi/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <string_view>
#include <vector>

namespace quarkstar::app {
namespace {

/// Settings that change no bit of a solve, or are in its restart keys.
constexpr std::array<std::string_view, 33> of_no_state{
    "gauge",       "lattice",   "source",   "columns",          "nrhs",      "sinks",
    "correlators", "momenta",   "fold",     "three-points",     "currents",  "no-tune",
    "check-every", "in-flight", "share",    "residual-history", "bound",     "current-momenta",
    "blocks",      "ranks",     "policy",   "rank-weights",     "cpu-share", "krylov-state",
    "checkpoint",  "redundant", "out",      "propagators",      "json",      "checkpoint-every",
    "trace",       "graph",     "decisions"};

/// What tells solves apart that go on in other ways, beside the problem.
std::string settings_of_state(const RunConfig& config) {
  std::string text = version_line();
  for (const std::string& line : split(shared_settings(config), '\n'))
    if (std::find(of_no_state.begin(), of_no_state.end(), std::string_view(line).substr(0, line.find(' '))) == of_no_state.end())
      text += "\n" + line;
  return text;
}

/// Moves numbers of v between what its file has, the components of all slices of a site, and fields of single slices.
template <class Fields, class Move>
void each_slice(Fields& solutions, std::size_t v, std::size_t n, std::span<std::complex<double>> of_file, Move&& move) {
  const std::size_t slices = solutions.size() / n, components = static_cast<std::size_t>(solutions[v].components);
  for (std::size_t s = 0; s < slices; ++s) {
    auto& slice = solutions[s * n + v].data;
    for (std::size_t site = 0; site * components < slice.size(); ++site)
      move(std::span(slice).subspan(site * components, components), of_file.subspan((site * slices + s) * components, components));
  }
}

std::vector<std::complex<double>> numbers_of_file(std::span<const HostField> solutions, std::size_t n) {
  return std::vector<std::complex<double>>(solutions.size() / n * solutions[0].data.size());
}

}  // namespace

GroupFiles::GroupFiles(RunState& run, const std::string& equation, const std::vector<RightHandSide>& group)
    : run_(run), done_before_(group.size(), 0) {
  if (run.config.checkpoint.empty()) return;
  std::string problems;
  for (const RightHandSide& side : group) {
    const SourceState& source = run.sources[side.source];
    checkpoints_.push_back(&*source.checkpoint);
    keys_.push_back(restart_key(equation, source.run.report.config.source, side.column, run.named_mass(side.mass)));
    problems += fmt::format("{} {}\n", keys_.back().name, keys_.back().problem);
  }
  if (!run.config.krylov_state) return;
  problems += settings_of_state(run.config);
  state_key_ = {"state-" + keys_.front().name, fmt::format("{} for {} right-hand sides, {:016x}", run.config.solver.solver, group.size(),
                                                           runtime::mpi::fingerprint(std::as_bytes(std::span(problems))))};
}

std::optional<SolveState> GroupFiles::load(std::span<HostField> solutions) {
  bool all_there = true;
  const std::size_t n = keys_.size();
  for (std::size_t v = 0; v < n; ++v) {
    std::optional<int> done;
    if (solutions.size() == n) {
      done = checkpoints_[v]->load(keys_[v], solutions[v].data);
    } else {
      std::vector<std::complex<double>> of_file = numbers_of_file(solutions, n);
      done = checkpoints_[v]->load(keys_[v], of_file);
      each_slice(solutions, v, n, of_file, [](auto mine, auto theirs) { std::ranges::copy(theirs, mine.begin()); });
    }
    all_there = all_there && done;
    done_before_[v] = done.value_or(0);
  }
  if (state_key_.name.empty()) return std::nullopt;
  std::optional<SolveState> state = checkpoints_.front()->load_state(state_key_, run_.kind.components);
  if (state && state->fields.empty() && !all_there) state.reset();    // of a group that has ended, whose solutions are no more
  if (state) std::fill(done_before_.begin(), done_before_.end(), 0);  // its results count them
  return state;
}

void GroupFiles::save(std::size_t v, std::span<const HostField> solutions, int iterations) const {
  const std::size_t n = keys_.size();
  if (n == 0) return;
  iterations += done_before_[v];
  if (solutions.size() == n) return checkpoints_[v]->save(keys_[v], solutions[v].data, iterations);
  std::vector<std::complex<double>> of_file = numbers_of_file(solutions, n);
  each_slice(solutions, v, n, of_file, [](auto mine, auto theirs) { std::ranges::copy(mine, theirs.begin()); });
  checkpoints_[v]->save(keys_[v], of_file, iterations);
}

void GroupFiles::end(const std::vector<SolveResult>& results) const {
  if (state_key_.name.empty()) return;
  if (std::all_of(results.begin(), results.end(), [](const SolveResult& result) { return result.converged(); }))
    checkpoints_.front()->save_state(state_key_, {results, {}, {}});
  else if (std::all_of(results.begin(), results.end(), worth_saving))
    checkpoints_.front()->remove_state(state_key_);  // solutions are saved instead
}

Snapshots GroupFiles::snapshots() {
  if (keys_.empty()) return {};
  Snapshots snapshots{restart_file_due(run_.config.checkpoint_every, run_.save_requests),
                      [this](std::span<const HostField> solutions, std::span<const int> iterations) {
                        for (std::size_t v = 0; v < keys_.size(); ++v) save(v, solutions, iterations[v]);
                      }};
  if (state_key_.name.empty()) return snapshots;
  // A solve that is interrupted ends otherwise than one that goes on, so its state is kept first.
  snapshots.due = [this, due = snapshots.due](int iterations) {
    const bool wanted = due(iterations);
    return interrupted_anywhere(run_.watch) || wanted;
  };
  snapshots.take_state = [this](const SolveState& state) { checkpoints_.front()->save_state(state_key_, state); };
  return snapshots;
}

}  // namespace quarkstar::app
