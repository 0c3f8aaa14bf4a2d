#pragma once
// The residual mass of quarks with a fifth dimension.
#include "apps/run/report.hpp"

namespace quarkstar::app {

/// Of a source whose columns are all solved, by SolveResult::midpoint: adds the correlators `pion_midpoint`, sum over columns and space of
/// |q_mp|^2, and `pion_residual_mass`, R(t) = that over the same sum of |q|^2, t from the source, and the number `residual_mass` of the
/// operator, the ratio of both sums over t = 1..T-1. Nothing where there is no fifth dimension. Source: arXiv:hep-lat/0007038.
void add_residual_mass(RunReport& report);

}  // namespace quarkstar::app
