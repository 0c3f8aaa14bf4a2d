#pragma once
// A whole solve as the battery repeats it: one source, one choice of everything, the residual history as bits.
#include "codelets/actions/wilson/action.hpp"
#include "solvers/solver.hpp"
#include "tests/battery/support.hpp"

namespace quarkstar::battery {

struct SolveCase {
  Coord blocks{1, 1, 1, 1};
  std::string policy = "static";
  int workers = 1, threads = 2, gpus = 0;
  bool join = false;  ///< SessionOptions::join_on_cpus
  int lane_bytes = 64;
  SolverSettings settings;
  std::vector<runtime::Throttle> throttles{};
};

struct SolveOutcome {
  SolveResult result;
  HostField solution;
  std::vector<std::pair<std::string, double>> numbers = {};  ///< Solver::numbers()
};

/// One solve in a session of its own.
inline SolveOutcome solve_once(const SolveCase& c, const Action& action, const HostField& source) {
  runtime::Session session({.cpu_workers = c.workers,
                            .threads_per_worker = c.threads,
                            .cuda_workers = c.gpus,
                            .policy = c.policy,
                            .join_on_cpus = c.join,
                            .lane_bytes = c.lane_bytes,
                            .throttles = c.throttles});
  SolverSettings settings = c.settings;
  settings.keep_history = true;
  Solver solver(runtime::Decomposition(source.extents, c.blocks, session.block_owners()), action, settings);
  SolveOutcome outcome{{}, HostField(spinor_components, source.extents), {}};
  outcome.result = solver.solve(source, outcome.solution);
  outcome.numbers = solver.numbers();
  return outcome;
}
inline SolveOutcome solve_once(const SolveCase& c, const HostGauge& gauge, const WilsonParameters& parameters, const HostField& source) {
  return solve_once(c, wilson::Action(gauge, parameters), source);
}

/// Every iteration and every number of the solution.
inline void check_same_bits(const SolveOutcome& outcome, const SolveOutcome& expected) {
  CHECK(outcome.result.residual_history == expected.result.residual_history);
  CHECK(same_bits(outcome.solution, expected.solution));
}

}  // namespace quarkstar::battery
