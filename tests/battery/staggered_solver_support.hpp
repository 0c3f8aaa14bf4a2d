#pragma once
// Staggered solves as the batteries repeat them: links on which they are quick, settings, and what comes back.
#include "tests/battery/staggered_support.hpp"
#include "tests/battery/together_support.hpp"

#include <cmath>
#include <string>

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

using StaggeredOutcome = TogetherOutcome;

/// |b - M x| / |b| by the reference's operator.
inline double true_residual(const reference::StaggeredLinks& links, double mass, const HostField& source, const HostField& solution) {
  const reference::Field b = to_reference(source);
  return std::sqrt(reference::norm2(b - reference::staggered(links, mass, to_reference(solution))) / reference::norm2(b));
}

}  // namespace quarkstar::battery
