#pragma once
// Groups of solves that gather modes for those after them.
#include "tests/battery/together_support.hpp"

#include <algorithm>
#include <vector>

namespace quarkstar::battery {

inline int most_iterations(const TogetherOutcome& outcome) {
  int most = 0;
  for (const SolveResult& result : outcome.results) most = std::max(most, result.iterations);
  return most;
}

/// Groups of sources, one after another by one solver.
inline std::vector<TogetherOutcome> solve_groups(Solver& solver, const std::vector<HostField>& sources, std::size_t together, double mass) {
  std::vector<TogetherOutcome> outcomes;
  const std::vector<double> masses(together, mass);
  for (std::size_t first = 0; first + together <= sources.size(); first += together)
    outcomes.push_back(solve_together(solver, std::span(sources).subspan(first, together), masses));
  return outcomes;
}

inline void check_same_bits(const std::vector<TogetherOutcome>& a, const std::vector<TogetherOutcome>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t group = 0; group < a.size(); ++group)
    for (std::size_t v = 0; v < a[group].results.size(); ++v) check_same_bits(a[group], v, b[group], v);
}

}  // namespace quarkstar::battery
