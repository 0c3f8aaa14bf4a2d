#include "apps/staggered_run.hpp"

#include "apps/interrupt.hpp"
#include "apps/progress.hpp"
#include "apps/solve_plan.hpp"
#include "apps/solve_run.hpp"
#include "apps/timeline.hpp"
#include "codelets/smear/hisq.hpp"
#include "codelets/staggered/colour_field.hpp"
#include "runtime/observe/chrome_trace.hpp"
#include "solvers/staggered_solver.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>

namespace quarkstar::app {
namespace {

using Clock = std::chrono::steady_clock;

/// One right-hand side: its column and the place of its mass in the list of masses.
struct Task {
  int column;
  std::size_t mass;
};

/// Right-hand sides that are solved together.
std::vector<std::vector<Task>> batches(const RunConfig& config) {
  std::vector<std::vector<Task>> result;
  const std::size_t masses = config.staggered.masses.size(), most = static_cast<std::size_t>(config.staggered.nrhs);
  if (config.solver.solver == "multishift") {
    constexpr std::size_t most_together = staggered::most_vectors;
    for (const int column : config.columns)
      for (std::size_t m = 0; m < masses; ++m) {
        if (m % most_together == 0) result.emplace_back();
        result.back().push_back({column, m});
      }
    return result;
  }
  for (std::size_t m = 0; m < masses; ++m)
    for (const int column : config.columns) {
      const bool other_mass = !result.empty() && result.back().back().mass != m && config.solver.solver == "blockcg";
      if (result.empty() || result.back().size() == most || other_mass) result.emplace_back();
      result.back().push_back({column, m});
    }
  return result;
}

/// One of n equal shares.
runtime::Energy share_of(runtime::Energy energy, std::size_t n) {
  for (runtime::EnergyReading* reading : {&energy.cpu, &energy.gpu}) reading->joules /= static_cast<double>(n);
  return energy;
}

/// What all batches of one operator need.
struct OperatorRun {
  runtime::Session& session;
  const runtime::Decomposition& decomposition;
  StaggeredSolver solver;
  runtime::EnergyMeter meter;
};

/// Solves one batch and keeps what comes back.
void solve_batch(OperatorRun& run, const std::vector<Task>& batch, const RunConfig& config, ProgressBar& bar, RunReport& report,
                 std::vector<StaggeredPropagator>& propagators) {
  const Coord& extents = run.decomposition.lattice();
  std::vector<HostColour> sources, solutions(batch.size(), HostColour(extents));
  std::vector<double> masses;
  for (const Task& task : batch) {
    sources.push_back(make_colour_source(config.source, extents, task.column));
    masses.push_back(config.staggered.masses[task.mass]);
  }
  const int step = static_cast<int>(report.solves.size());
  const runtime::Energy before = run.meter.read();
  const double busy_before = run.session.events().totals().busy_us;
  const std::vector<SolveResult> results = run.solver.solve(sources, masses, solutions, [&](int iterations, double residual) {
    bar.update(step, residual_fraction(residual, config.solver.tolerance), fmt::format("iteration {}  |r|/|b| {:.2e}", iterations, residual));
    return !interrupted();
  });
  const runtime::Energy energy = share_of(run.meter.read() - before, batch.size());
  double seconds = 0;
  std::int64_t tasks = 0;
  for (const SolveResult& result : results) {
    seconds += result.seconds;
    tasks += result.tasks;
  }
  const double idle_us = idle_us_a_task(run.decomposition, seconds, tasks, run.session.events().totals().busy_us - busy_before);
  for (std::size_t v = 0; v < batch.size(); ++v) {
    report.solves.push_back({.column = batch[v].column, .result = results[v], .energy = energy, .mass = masses[v], .idle_us = idle_us});
    if (results[v].reason == StopReason::interrupted || interrupted()) throw Interrupted{};
    if (!results[v].converged()) {
      report.failed = true;
      throw_failure(config, fmt::format("colour {}, mass {}", batch[v].column, masses[v]), results[v]);
    }
    propagators[batch[v].mass].columns.push_back(std::move(solutions[v]));
  }
  bar.step_done(step + static_cast<int>(batch.size()),
                fmt::format("{} iterations, true residual {:.2e}, {:.3f} s, {:.2f} GFLOP/s", results[0].iterations, results[0].true_residual,
                            results[0].seconds * static_cast<double>(batch.size()), report.solves.back().gflops()));
}

/// Who owns what where there are GPUs: equal parts, none of them a CPU's, for no staggered operator has been timed on its owners.
DevicePlan parts_on_gpus(const runtime::Session& session, const runtime::Decomposition& decomposition) {
  DevicePlan plan;
  if (session.gpu_count() == 0) return plan;
  for (const runtime::Block& block : decomposition.blocks())
    plan.parts.push_back({block.owner, session.worker(block.owner).name, block.extents, 0});
  if (runtime::cpu_share_is_open(session.options())) plan.reason = "staggered actions are cut for the GPUs alone";
  return plan;
}

/// The operator for each epsilon, made when it is asked for; HISQ keeps its reunitarized links for the next.
class LinkMaker {
 public:
  LinkMaker(const runtime::Decomposition& decomposition, const HostGauge& gauge, const RunConfig& config) {
    const BoundaryAngles& boundary = config.wilson.boundary;
    if (config.action == "hisq") hisq_ = std::make_unique<smear::HisqLinks>(decomposition, gauge, boundary);
    else if (config.action == "asqtad") links_ = smear::asqtad_links(decomposition, gauge, boundary, *config.staggered.u0);
    else links_ = smear::naive_links(decomposition, gauge, boundary);
  }
  smear::StaggeredLinks links(double naik_epsilon) const { return hisq_ ? hisq_->links(naik_epsilon) : links_; }

 private:
  std::unique_ptr<smear::HisqLinks> hisq_;
  smear::StaggeredLinks links_;
};

}  // namespace

std::vector<StaggeredPropagator> solve_staggered_on(const runtime::Decomposition& decomposition, const smear::StaggeredLinks& links,
                                                    const RunConfig& config, RunReport& report) {
  runtime::Session& session = runtime::Session::current();
  SolverSettings settings = config.solver;
  settings.keep_history = true;  // the report plots it
  OperatorRun run{session, decomposition, StaggeredSolver(decomposition, links, settings), runtime::EnergyMeter(gpu_bus_ids(session))};
  session.wait_all();
  if (config.trace.empty()) session.events().reset();
  std::vector<StaggeredPropagator> propagators;
  for (const double mass : config.staggered.masses) propagators.push_back({mass, links.naik_epsilon, {}});
  ProgressBar bar("right-hand side", static_cast<int>(config.columns.size() * report.config.staggered.masses.size()));
  const auto all = batches(config);
  for (std::size_t b = 0; b < all.size(); ++b) {
    solve_batch(run, all[b], config, bar, report, propagators);
    session.wait_all();
    if (b == 0 && report.timeline.empty()) record_timeline(session, report);
    if (config.trace.empty()) session.events().reset();  // only a trace needs them all; long runs would fill the memory
  }
  return propagators;
}

std::vector<StaggeredPropagator> solve_staggered(const HostGauge& gauge, const RunConfig& config, RunReport& report,
                                                 const std::function<void(const RunReport&)>& planned) {
  const auto start = Clock::now();
  catch_interrupts();
  runtime::SessionOptions options = config.session;
  options.keep_events = true;
  options.time_kernels = !config.trace.empty();
  runtime::Session session(options);
  const int workers = session.block_owners();
  const int hop = config.action == "naive" ? 1 : 3;
  const runtime::Decomposition decomposition(gauge.extents, block_grid(config.blocks, gauge.extents, workers, hop), workers);
  report.decomposition = decomposition.describe();
  report.devices = parts_on_gpus(session, decomposition);
  if (planned) planned(report);
  const LinkMaker maker(decomposition, gauge, config);
  report.setup_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  session.wait_all();
  session.events().reset();
  std::vector<StaggeredPropagator> propagators;
  if (config.staggered.naik_epsilon) {
    propagators = solve_staggered_on(decomposition, maker.links(*config.staggered.naik_epsilon), config, report);
  } else {
    RunConfig one = config;
    for (const double mass : config.staggered.masses) {
      one.staggered.masses = {mass};
      for (StaggeredPropagator& propagator : solve_staggered_on(decomposition, maker.links(smear::naik_epsilon_of_mass(mass)), one, report))
        propagators.push_back(std::move(propagator));
    }
  }
  if (!config.trace.empty()) runtime::write_chrome_trace(session, session.events(), config.trace);
  return propagators;
}

}  // namespace quarkstar::app
