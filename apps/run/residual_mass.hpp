#pragma once
// The residual mass of quarks with a fifth dimension.
#include "apps/run/report.hpp"

#include <span>
#include <vector>

namespace quarkstar::app {

struct ResidualMass {
  std::vector<double> midpoint;  ///< sum over columns and space of |q_mp|^2, t from the source
  std::vector<double> ratio;     ///< of that to the same sum of |q|^2
  double mass;                   ///< the ratio of both sums over t = 1..T-1
};
/// midpoints: SolveResult::midpoint of all columns of a source, in their order; time: of the source. Source: arXiv:hep-lat/0007038.
ResidualMass residual_mass_of(std::span<const std::vector<double>> midpoints, int time);

/// Of a source whose columns are all solved: adds the correlators `pion_midpoint` and `pion_residual_mass` and the number `residual_mass`
/// of the operator. Nothing where there is no fifth dimension.
void add_residual_mass(RunReport& report);

}  // namespace quarkstar::app
