#include "apps/solve_run.hpp"

#include "apps/interrupt.hpp"
#include "apps/measure_owner.hpp"
#include "apps/progress.hpp"
#include "apps/timeline.hpp"
#include "runtime/decomposition.hpp"
#include "runtime/error.hpp"
#include "runtime/observe/chrome_trace.hpp"
#include "solvers/wilson_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

namespace quarkstar::app {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string remedy_for(StopReason reason) {
  switch (reason) {
    case StopReason::iteration_limit:
      return "raise --max-iterations, or move kappa away from its critical value";
    case StopReason::not_finite:
      return "check the links with `quarkstar gauge info`, and kappa";
    case StopReason::stagnation:
      return "loosen --tol, use --precision double, or another --solver";
    default:
      return "try another --solver (cgnr decreases the residual in every step)";
  }
}

[[noreturn]] void throw_failure(const RunConfig& config, const ColumnReport& column) {
  throw Error(ErrorKind::numerical,
              fmt::format("column {} (spin {}, colour {})", column.column, column.column / 3, column.column % 3),
              fmt::format("{} ended after {} iterations with |b - M x| / |b| = {:.3e} above {:g}: {}",
                          config.solver.solver, column.result.iterations, column.result.true_residual,
                          config.solver.tolerance, describe(column.result.reason)),
              remedy_for(column.result.reason));
}

SolveResult solve_one(WilsonSolver& solver, const HostSpinor& source, HostSpinor& solution, double tolerance, int step,
                      ProgressBar& bar) {
  return solver.solve(source, solution, [&](int iterations, double residual) {
    bar.update(step, residual_fraction(residual, tolerance),
               fmt::format("iteration {}  |r|/|b| {:.2e}", iterations, residual));
    return !interrupted();
  });
}

/// Blocks as the settings say, or as fits the devices.
PlannedLattice plan_lattice(runtime::Session& session, const Coord& extents, const RunConfig& config) {
  const int workers = session.block_owners();
  if (session.gpu_count() == 0 || config.blocks[0] > 0)
    return {runtime::Decomposition(extents, block_grid(config.blocks, extents, workers), workers), {}};
  const SolverSettings& solver = config.solver;
  const double bytes = wilson_footprint(runtime::Decomposition(extents, {1, 1, 1, 1}, 1), solver).front().total();
  const PlanningProblem problem{
      .lattice = extents,
      .slice_bytes = [&](int mu) { return bytes / extents[static_cast<std::size_t>(mu)]; },
      .face_bytes = [&](int mu) {
        const auto layer = static_cast<double>(volume(extents)) / extents[static_cast<std::size_t>(mu)] / 2;
        return layer * 12 * static_cast<double>(computed_bytes(solver.precision));
      }};
  return plan_devices(owners_of(session), session.options(), problem, [&](int worker) {
    return measure_owner(session, worker, extents, solver.precision, solver.link_reals);
  });
}

/// Time that the owners of blocks spent outside tasks, microseconds a task.
double idle_us_a_task(const runtime::Decomposition& decomposition, const SolveResult& result, double busy_us) {
  std::set<int> owners;
  for (const runtime::Block& block : decomposition.blocks()) owners.insert(block.owner);
  const double idle = result.seconds * 1e6 * static_cast<double>(owners.size()) - busy_us;
  return result.tasks > 0 ? std::max(0.0, idle) / static_cast<double>(result.tasks) : 0;
}

}  // namespace

Coord block_grid(const Coord& blocks, const Coord& extents, int workers) {
  if (blocks[0] > 0) return blocks;
  return {1, 1, 1, std::clamp(workers, 1, std::max(1, extents[3] / 2))};
}

Propagator solve_columns(const HostGauge& gauge, const RunConfig& config, RunReport& report,
                         const std::function<void(const RunReport&)>& planned) {
  const auto start = std::chrono::steady_clock::now();
  catch_interrupts();
  runtime::SessionOptions options = config.session;
  options.keep_events = true;
  options.time_kernels = !config.trace.empty();
  runtime::Session session(options);
  const PlannedLattice lattice = plan_lattice(session, gauge.extents, config);
  const runtime::Decomposition& decomposition = lattice.decomposition;
  report.decomposition = decomposition.describe();
  report.devices = lattice.plan;
  report.memory = memory_needs(session, decomposition, config);
  if (planned) planned(report);
  require_memory(report.memory);
  SolverSettings settings = config.solver;
  settings.keep_history = true;  // the report plots it
  WilsonSolver solver(decomposition, gauge, config.wilson, settings);
  session.wait_all();
  session.events().reset();
  report.setup_seconds = seconds_since(start);

  runtime::EnergyMeter meter(gpu_bus_ids(session));
  Propagator propagator;
  ProgressBar bar("column", static_cast<int>(config.columns.size()));
  for (const int column : config.columns) {
    const int step = static_cast<int>(report.solves.size());
    HostSpinor solution(gauge.extents);
    const runtime::Energy before = meter.read();
    const double busy_before = session.events().totals().busy_us;
    report.solves.push_back({column, solve_one(solver, make_source(config.source, gauge.extents, column), solution,
                                               config.solver.tolerance, step, bar)});
    report.solves.back().energy = meter.read() - before;
    const SolveResult& result = report.solves.back().result;
    session.wait_all();
    report.solves.back().idle_us = idle_us_a_task(decomposition, result, session.events().totals().busy_us - busy_before);
    if (step == 0) record_timeline(session, report);
    if (result.reason == StopReason::interrupted || interrupted()) throw Interrupted{};
    if (!result.converged()) {
      report.failed = true;
      throw_failure(config, report.solves.back());
    }
    if (config.trace.empty()) session.events().reset();  // only a trace needs them all; long runs would fill the memory
    propagator.fields.push_back(std::move(solution));
    bar.step_done(step + 1,
                  fmt::format("{} iterations, true residual {:.2e}, {:.3f} s, {:.2f} GFLOP/s", result.iterations,
                              result.true_residual, result.seconds, report.solves.back().gflops()));
  }
  if (!config.trace.empty()) runtime::write_chrome_trace(session, session.events(), config.trace);
  return propagator;
}

}  // namespace quarkstar::app
