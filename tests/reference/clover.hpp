#pragma once
// The clover term (docs/conventions.md, section 2), one full 12 x 12 matrix per site.
#include "codelets/gauge/host_gauge.hpp"
#include "tests/reference/field.hpp"
#include "tests/reference/gamma.hpp"
#include "tests/reference/lattice.hpp"

#include <vector>

namespace quarkstar::reference {

/// One matrix per site, index = 3*spin + colour.
using SiteMatrices = std::vector<Matrix<12>>;

/// F_munu(x) = -i (Q - Q^+) / 8, Q the sum of the four counterclockwise leaves of the mu-nu plane at x; trace not
/// removed.
Matrix<3> field_strength(const HostGauge& gauge, const Coord& x, int mu, int nu);

/// A(x) = 1 - kappa (c_space sum of planes in space + c_time sum of planes with time) of sigma_munu F_munu(x).
SiteMatrices clover_term(const HostGauge& gauge, double kappa, double c_space, double c_time, Basis basis);

/// A(x) = 1 - kappa c_sw sum_{mu<nu} sigma_munu F_munu(x).
SiteMatrices clover_term(const HostGauge& gauge, double kappa, double c_sw, Basis basis = Basis::degrand_rossi);

/// A(x) = 1: Wilson without clover.
SiteMatrices unit_term(const Coord& extents);

/// (A psi)(x) = A(x) psi(x).
Field apply_sites(const SiteMatrices& a, const Field& psi);

/// A^-1 site by site.
SiteMatrices inverse(const SiteMatrices& a);

/// sum over the sites of one parity of log det A(x); the determinant is real because A is hermitian.
double trace_log(const SiteMatrices& a, const Coord& extents, int parity);

/// M psi = A psi - kappa H psi.
Field clover_wilson(const HostGauge& gauge, const SiteMatrices& a, double kappa, const Field& psi, const Boundary& boundary = {},
                    Basis basis = Basis::degrand_rossi);

/// M^+ psi = A psi - kappa H^+ psi (A is hermitian).
Field clover_wilson_dagger(const HostGauge& gauge, const SiteMatrices& a, double kappa, const Field& psi, const Boundary& boundary = {},
                           Basis basis = Basis::degrand_rossi);

}  // namespace quarkstar::reference
