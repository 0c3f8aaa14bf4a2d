#include "apps/solve_run.hpp"

#include "apps/adaptive_cut.hpp"
#include "apps/checkpoint.hpp"
#include "apps/interrupt.hpp"
#include "apps/job_energy.hpp"
#include "apps/measure_power.hpp"
#include "apps/progress.hpp"
#include "apps/solve_bound.hpp"
#include "apps/solve_plan.hpp"
#include "apps/timeline.hpp"
#include "runtime/decomposition.hpp"
#include "runtime/error.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/observe/chrome_trace.hpp"
#include "solvers/wilson_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>

namespace quarkstar::app {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string remedy_for(StopReason reason) {
  switch (reason) {
    case StopReason::iteration_limit:
      return "raise --max-iterations, or move the mass (kappa) away from its critical value";
    case StopReason::not_finite:
      return "check the links with `quarkstar gauge info`, and the mass (kappa)";
    case StopReason::stagnation:
      return "loosen --tol, use --precision double, or another --solver";
    default:
      return "try another --solver (cgnr decreases the residual in every step)";
  }
}

SolveResult solve_one(WilsonSolver& solver, const HostSpinor& source, HostSpinor& solution, double tolerance, int step,
                      ProgressBar& bar, const Snapshots& snapshots) {
  const auto progress = [&](int iterations, double residual) {
    bar.update(step, residual_fraction(residual, tolerance),
               fmt::format("iteration {}  |r|/|b| {:.2e}", iterations, residual));
    return !interrupted_anywhere();
  };
  return solver.solve(source, solution, progress, snapshots);
}

/// Restart files of one column while it is being solved.
Snapshots snapshots_of(const Checkpoint* checkpoint, const RestartKey& key, int every, int done_before) {
  if (checkpoint == nullptr) return {};
  return {restart_file_due(every),
          [=](const HostSpinor& solution, int iterations) { checkpoint->save(key, solution.data, done_before + iterations); }};
}

}  // namespace

void throw_failure(const RunConfig& config, const std::string& right_hand_side, const SolveResult& result) {
  throw Error(ErrorKind::numerical, right_hand_side,
              fmt::format("{} ended after {} iterations with |b - M x| / |b| = {:.3e} above {:g}: {}",
                          config.solver.solver, result.iterations, result.true_residual, config.solver.tolerance, describe(result.reason)),
              remedy_for(result.reason));
}

void write_trace(runtime::Session& session, const RunConfig& config) {
  if (config.trace.empty()) return;
  session.wait_all();
  const runtime::mpi::Job& job = runtime::mpi::Job::current();
  std::filesystem::path file(config.trace);
  if (!job.is_root()) file.replace_filename(fmt::format("{}.rank{}{}", file.stem().string(), job.rank(), file.extension().string()));
  runtime::write_chrome_trace(session, session.events(), file.string());
}

double idle_us_a_task(const runtime::Decomposition& decomposition, std::span<const SolveResult> results) {
  double idle = 0, tasks = 0;
  for (const SolveResult& result : results) {
    idle += result.seconds * 1e6 * owner_count(decomposition) - result.busy_us;
    tasks += result.tasks;
  }
  runtime::mpi::Job::current().combine(std::span(&idle, 1), runtime::mpi::Combine::sum);
  return tasks > 0 ? std::max(0.0, idle) / tasks : 0;
}

Propagator solve_columns(const LinksOfPart& links, const Coord& lattice, const RunConfig& config, RunReport& report,
                         const std::function<void(const RunReport&)>& planned) {
  const auto start = std::chrono::steady_clock::now();
  catch_interrupts();
  runtime::SessionOptions options = config.session;
  options.keep_events = true;
  options.time_kernels = !config.trace.empty();
  runtime::Session session(options);
  provide_power(session);
  report.power = session.options().power;
  const PlannedLattice plan = plan_wilson(session, lattice, config);
  runtime::Decomposition decomposition = plan.decomposition;
  report.decomposition = decomposition.describe();
  report.devices = plan.plan;
  report.memory = memory_needs(session, decomposition, config);
  if (planned) planned(report);
  runtime::mpi::Job::current().together([&] { require_memory(report.memory); });
  SolverSettings settings = config.solver;
  settings.keep_history = true;  // the report plots it
  const HostGauge& gauge = links(decomposition);
  std::optional<WilsonSolver> solver;
  double making_seconds = 0;
  const auto make_solver = [&] {
    const auto begin = std::chrono::steady_clock::now();
    solver.emplace(decomposition, gauge, config.wilson, settings);
    session.wait_all();
    making_seconds = seconds_since(begin);
  };
  make_solver();
  session.events().reset();
  report.setup_seconds = seconds_since(start);
  AdaptiveCut adaptive(session, lattice, thinnest_block(config.hops_far()), report.memory);

  std::optional<Checkpoint> checkpoint;
  if (!config.checkpoint.empty()) checkpoint.emplace(config.checkpoint, lattice, decomposition.part());
  const std::string problem =
      describe_problem(config, 0.5 * (report.gauge.spatial_plaquette + report.gauge.temporal_plaquette), report.gauge.link_trace);
  JobEnergyMeter meter(session);
  runtime::WorkerProfile profile(session);
  Propagator propagator;
  ProgressBar bar("column", static_cast<int>(config.columns.size()));
  for (const int column : config.columns) {
    const int step = static_cast<int>(report.solves.size());
    HostSpinor solution(decomposition.part());
    const RestartKey key{fmt::format("column{:02}", column), problem};
    const int done_before = checkpoint ? checkpoint->load(key, solution.data).value_or(0) : 0;
    const runtime::Energy before = meter.read();
    adaptive.begins();
    std::optional<BoundMeter> bound;
    if (config.bound) bound.emplace(session);
    report.solves.push_back({column, solve_one(*solver, make_source(config.source, lattice, decomposition.part(), column), solution,
                                               config.solver.tolerance, step, bar,
                                               snapshots_of(checkpoint ? &*checkpoint : nullptr, key, config.checkpoint_every, done_before))});
    report.solves.back().energy = meter.since(before);
    const SolveResult& result = report.solves.back().result;
    session.wait_all();
    report.solves.back().idle_us = idle_us_a_task(decomposition, std::span(&result, 1));
    if (bound) report.solves.back().bound = bound->ended(result.seconds, result.bytes);
    bound.reset();
    if (step == 0) record_timeline(session, report);
    if (result.reason == StopReason::interrupted || interrupted_anywhere()) {
      if (checkpoint) checkpoint->save(key, solution.data, done_before + result.iterations);
      throw Interrupted{config.checkpoint};
    }
    if (!result.converged()) {
      report.failed = true;
      write_trace(session, config);
      throw_failure(config, fmt::format("column {} (spin {}, colour {})", column, column / 3, column % 3), result);
    }
    if (checkpoint) checkpoint->save(key, solution.data, done_before + result.iterations);
    if (config.trace.empty()) session.events().reset();  // only a trace needs them all; long runs would fill the memory
    propagator.fields.push_back(std::move(solution));
    const int remaining = static_cast<int>(config.columns.size()) - step - 1;
    if (const auto better = adaptive.ended(decomposition, result.seconds, remaining, making_seconds)) {
      solver.reset();
      decomposition = *better;
      make_solver();
    }
    bar.step_done(step + 1,
                  fmt::format("{} iterations, true residual {:.2e}, {:.3f} s, {:.2f} GFLOP/s", result.iterations,
                              result.true_residual, result.seconds, report.solves.back().gflops()));
  }
  report.resplits = adaptive.resplits();
  record_worker_times(profile, report);
  write_trace(session, config);
  return propagator;
}

}  // namespace quarkstar::app
