#pragma once
// Right-hand sides of any action that are solved together, as the batteries compare them with single solves.
#include "solvers/solver.hpp"
#include "tests/battery/support.hpp"

#include <span>
#include <string>
#include <vector>

namespace quarkstar::battery {

/// Of a Wilson solve whose bits are compared: links of another form in each precision, no measurements.
inline SolverSettings settings_of(const std::string& solver, Precision precision) {
  SolverSettings settings;
  settings.solver = solver;
  settings.precision = precision;
  settings.link_reals = precision == Precision::double_ ? 18 : precision == Precision::single ? 12 : 8;
  settings.keep_history = true;
  settings.tune = false;
  return settings;
}

/// Right-hand sides that were solved together.
struct TogetherOutcome {
  std::vector<SolveResult> results;
  std::vector<HostField> solutions;
};

/// One solve from zero guesses. masses: kappas of Wilson actions.
inline TogetherOutcome solve_together(Solver& solver, std::span<const HostField> sources, std::span<const double> masses) {
  TogetherOutcome outcome{{}, std::vector<HostField>(sources.size(), HostField(sources[0].components, sources[0].extents))};
  outcome.results = solver.solve(sources, masses, outcome.solutions);
  return outcome;
}

/// One vector of each outcome: everything that the arithmetic decides is the same.
inline void check_same_bits(const TogetherOutcome& a, std::size_t v, const TogetherOutcome& b, std::size_t w) {
  CHECK(a.results[v].reason == b.results[w].reason);
  CHECK(a.results[v].iterations == b.results[w].iterations);
  CHECK(a.results[v].restarts == b.results[w].restarts);
  CHECK(a.results[v].residual_history == b.results[w].residual_history);
  CHECK(a.results[v].true_residual == b.results[w].true_residual);
  CHECK(same_bits(a.solutions[v], b.solutions[w]));
}

}  // namespace quarkstar::battery
