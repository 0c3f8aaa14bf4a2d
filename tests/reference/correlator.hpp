#pragma once
// Point propagators and their meson correlators at zero momentum.
#include "tests/reference/field.hpp"
#include "tests/reference/gamma.hpp"
#include "tests/reference/solve.hpp"

#include <vector>

namespace quarkstar::reference {

/// Columns of M^-1 delta: column[3*spin + colour] (Wilson, 12) or column[colour] (staggered, 3).
using Propagator = std::vector<Field>;

/// One cgnr() per source spin and colour; throws Error(numerical) if one does not converge.
Propagator point_propagator(const Operator& m, const Operator& m_dagger, const Coord& extents, int spins, const Coord& origin,
                            double tolerance);

/// C(t) = sum_x Tr S(x,t) S^+(x,t) = sum of |S|^2 over space, sinks and sources; t = 0..T-1, absolute time slices.
std::vector<double> pion(const Propagator& propagator);

/// C(t) = sum_x Re Tr[g_i S g_i g5 S^+ g5], i = 0..2 = x, y, z.
std::vector<double> rho(const Propagator& propagator, int i, Basis basis = Basis::degrand_rossi);

/// Staggered local pion of gamma_0 gamma_5, as MILC has it: C(t) = sum_x (-1)^(x+y+z+t) |G|^2, the exponent counted from `origin`; absolute
/// time slices.
std::vector<double> staggered_pion05(const Propagator& propagator, const Coord& origin);

/// Staggered local rho: C(t) = sum_x (-1)^{x_i} |G|^2.
std::vector<double> staggered_rho(const Propagator& propagator, int i);

}  // namespace quarkstar::reference
