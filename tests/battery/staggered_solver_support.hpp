#pragma once
// Staggered solves as the batteries repeat them: links on which they are quick, settings, and what comes back.
#include "solvers/solver.hpp"
#include "tests/battery/staggered_support.hpp"

#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace quarkstar::battery {

/// The weight of HISQ's long links.
inline constexpr double naik_weight = -1 / 24.;

/// Smooth links, on which solves are quick: unit links with noise, with HISQ's weights of unit links.
inline reference::StaggeredLinks smooth_links(const Coord& extents, std::uint64_t seed, double roughness = 0.3) {
  reference::StaggeredLinks links{reference::near_unit_gauge(extents, seed, roughness),
                                  reference::near_unit_gauge(extents, seed + 1, roughness)};
  for (double& real : links.fat.data) real *= 9. / 8;
  for (double& real : links.naik.data) real *= naik_weight;
  return links;
}

inline SolverSettings staggered_settings(const std::string& solver, Precision precision = Precision::double_, int long_reals = 18) {
  SolverSettings settings;
  settings.solver = solver;
  settings.precision = precision;
  settings.link_reals = long_reals;
  settings.keep_history = true;
  return settings;
}

/// Right-hand sides that were solved together.
struct StaggeredOutcome {
  std::vector<SolveResult> results;
  std::vector<HostField> solutions;
};

/// One solve from zero guesses.
inline StaggeredOutcome solve_together(Solver& solver, std::span<const HostField> sources, std::span<const double> masses) {
  StaggeredOutcome outcome{{}, std::vector<HostField>(sources.size(), HostField(colour_components, sources[0].extents))};
  outcome.results = solver.solve(sources, masses, outcome.solutions);
  return outcome;
}

/// One vector of each outcome: everything that the arithmetic decides is the same.
inline void check_same_bits(const StaggeredOutcome& a, std::size_t v, const StaggeredOutcome& b, std::size_t w) {
  CHECK(a.results[v].reason == b.results[w].reason);
  CHECK(a.results[v].iterations == b.results[w].iterations);
  CHECK(a.results[v].restarts == b.results[w].restarts);
  CHECK(a.results[v].residual_history == b.results[w].residual_history);
  CHECK(a.results[v].true_residual == b.results[w].true_residual);
  CHECK(same_bits(a.solutions[v], b.solutions[w]));
}

/// |b - M x| / |b| by the reference's operator.
inline double true_residual(const reference::StaggeredLinks& links, double mass, const HostField& source, const HostField& solution) {
  const reference::Field b = to_reference(source);
  return std::sqrt(reference::norm2(b - reference::staggered(links, mass, to_reference(solution))) / reference::norm2(b));
}

}  // namespace quarkstar::battery
