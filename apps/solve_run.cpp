#include "apps/solve_run.hpp"

#include "apps/checkpoint.hpp"
#include "apps/interrupt.hpp"
#include "apps/progress.hpp"
#include "apps/timeline.hpp"
#include "runtime/decomposition.hpp"
#include "runtime/error.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/mpi/rank_grid.hpp"
#include "runtime/observe/chrome_trace.hpp"
#include "solvers/wilson_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

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
                      ProgressBar& bar, const Snapshots& snapshots) {
  const auto progress = [&](int iterations, double residual) {
    bar.update(step, residual_fraction(residual, tolerance),
               fmt::format("iteration {}  |r|/|b| {:.2e}", iterations, residual));
    return !interrupted_anywhere();
  };
  return solver.solve(source, solution, progress, snapshots);
}

/// Restart files of one column while it is being solved: every so many iterations, and when a signal asks for one.
Snapshots snapshots_of(const Checkpoint* checkpoint, int column, int every, int done_before) {
  if (checkpoint == nullptr) return {};
  return {[every, last = 0](int iterations) mutable {
            const bool counted = every > 0 && iterations - last >= every;
            const bool asked = save_requested_anywhere();
            if (counted) last = iterations;
            return counted || asked;
          },
          [=](const HostSpinor& solution, int iterations) { checkpoint->save(column, solution, done_before + iterations); }};
}

/// Each rank writes its own trace: "run.json", "run.rank3.json".
std::string trace_of_rank(const std::string& path) {
  const runtime::mpi::Job& job = runtime::mpi::Job::current();
  if (job.is_root()) return path;
  const std::filesystem::path file(path);
  return file.parent_path() / fmt::format("{}.rank{}{}", file.stem().string(), job.rank(), file.extension().string());
}

}  // namespace

Coord block_grid(const Coord& blocks, const Coord& extents, int workers) {
  if (blocks[0] > 0) return blocks;
  return {1, 1, 1, std::clamp(workers, 1, std::max(1, extents[3] / 2))};
}

runtime::Decomposition cut_lattice(const Coord& extents, const RunConfig& config, const runtime::Session& session) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  const int workers = session.block_owners();
  if (!job.is_distributed()) return {extents, block_grid(config.blocks, extents, workers), workers};
  double bandwidth = 0;
  for (int w = 0; w < workers; ++w) bandwidth += session.worker(w).bandwidth_gbs;
  const std::vector<double> bandwidths = job.gather(bandwidth);
  const runtime::RankGrid ranks = runtime::mpi::make_rank_grid(extents, config.ranks, bandwidths, job.rank());
  // All ranks cut their parts alike, so that the blocks of the lattice are a grid.
  const auto most = static_cast<int>(job.combined(static_cast<std::uint64_t>(workers), runtime::mpi::Combine::maximum));
  Coord blocks{}, thinnest{};
  for (int mu = 0; mu < 4; ++mu) {
    thinnest[mu] = extents[mu] / ranks.grid[mu];
    if (config.blocks[mu] % ranks.grid[mu] != 0)
      throw Error(ErrorKind::input, "--blocks",
                  fmt::format("{} blocks in {} on {} ranks", config.blocks[mu], "xyzt"[mu], ranks.grid[mu]),
                  "give a multiple of --ranks in every direction");
    blocks[mu] = config.blocks[mu] / ranks.grid[mu];
  }
  return {extents, ranks, block_grid(blocks, thinnest, most), workers};
}

Propagator solve_columns(const LinksOfPart& links, const Coord& lattice, const RunConfig& config, RunReport& report) {
  const auto start = std::chrono::steady_clock::now();
  catch_interrupts();
  runtime::SessionOptions options = config.session;
  options.keep_events = true;
  runtime::Session session(options);
  const runtime::Decomposition decomposition = cut_lattice(lattice, config, session);
  report.decomposition = decomposition.describe();
  SolverSettings settings = config.solver;
  settings.keep_history = true;  // the report plots it
  WilsonSolver solver(decomposition, links(decomposition), config.wilson, settings);
  session.wait_all();
  session.events().reset();
  report.setup_seconds = seconds_since(start);

  std::optional<Checkpoint> checkpoint;
  if (!config.checkpoint.empty())
    checkpoint.emplace(config.checkpoint, describe_problem(config, 0.5 * (report.gauge.spatial_plaquette + report.gauge.temporal_plaquette), report.gauge.link_trace),
                       lattice, decomposition.part());
  Propagator propagator;
  ProgressBar bar("column", static_cast<int>(config.columns.size()));
  for (const int column : config.columns) {
    const int step = static_cast<int>(report.solves.size());
    HostSpinor solution(decomposition.part());
    const int done_before = checkpoint ? checkpoint->load(column, solution).value_or(0) : 0;
    report.solves.push_back({column, solve_one(solver, make_source(config.source, decomposition.part(), column), solution,
                                               config.solver.tolerance, step, bar,
                                               snapshots_of(checkpoint ? &*checkpoint : nullptr, column, config.checkpoint_every, done_before))});
    const SolveResult& result = report.solves.back().result;
    session.wait_all();
    if (step == 0) record_timeline(session, report);
    if (result.reason == StopReason::interrupted || interrupted_anywhere()) {
      if (checkpoint) checkpoint->save(column, solution, done_before + result.iterations);
      throw Interrupted{config.checkpoint};
    }
    if (!result.converged()) {
      report.failed = true;
      throw_failure(config, report.solves.back());
    }
    if (checkpoint) checkpoint->save(column, solution, done_before + result.iterations);
    if (config.trace.empty()) session.events().reset();  // only a trace needs them all; long runs would fill the memory
    propagator.fields.push_back(std::move(solution));
    bar.step_done(step + 1,
                  fmt::format("{} iterations, true residual {:.2e}, {:.3f} s, {:.2f} GFLOP/s", result.iterations,
                              result.true_residual, result.seconds, report.solves.back().gflops()));
  }
  if (!config.trace.empty()) runtime::write_chrome_trace(session, session.events(), trace_of_rank(config.trace));
  return propagator;
}

}  // namespace quarkstar::app
