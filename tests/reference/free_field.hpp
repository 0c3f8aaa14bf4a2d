#pragma once
// What the operators become for unit links: formulas in momentum space (docs/conventions.md, section 11).
#include "tests/reference/gamma.hpp"
#include "tests/reference/lattice.hpp"

#include <vector>

namespace quarkstar::reference {

using Momentum = std::array<double, 4>;

/// p_mu = (2 pi n_mu + theta_mu) / L_mu for integer n_mu in [0, L_mu): the plane waves e^{ipx} that satisfy the
/// boundary.
Momentum momentum(const Coord& n, const Coord& extents, const Boundary& boundary);

/// D(p) = 1 - 2 kappa sum cos p_mu + 2 i kappa sum g_mu sin p_mu.
Matrix<4> wilson_symbol(double kappa, const Momentum& p, Basis basis = Basis::degrand_rossi);

/// S(p) = (M - i g.s) / (M^2 + s^2), M = 1 - 2 kappa sum cos p_mu, s_mu = 2 kappa sin p_mu: the inverse of the symbol.
Matrix<4> wilson_free_propagator(double kappa, const Momentum& p, Basis basis = Basis::degrand_rossi);

/// Pion from a point source: C(t) = 3 / V3 sum_p |S(t,p)|^2, S(t,p) = 1/T sum_{p_t} e^{i p_t t} S(p).
std::vector<double> wilson_free_pion(const Coord& extents, double kappa, const Boundary& boundary = {});

/// Eigenvalues of -D^2, D staggered without the 1/2: sum_mu [2 (c1 sin p_mu + c3 sin 3 p_mu)]^2, each three times
/// (colours); ascending. naive: c1 = 1, c3 = 0; HISQ and asqtad (u0 = 1): c1 = 9/8, c3 = -1/24.
std::vector<double> staggered_free_spectrum(const Coord& extents, double c1, double c3, const Boundary& boundary = {});

}  // namespace quarkstar::reference
