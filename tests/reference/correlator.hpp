#pragma once
// Point propagators and their meson correlators at zero momentum.
#include "tests/reference/field.hpp"
#include "tests/reference/gamma.hpp"
#include "tests/reference/lattice.hpp"
#include "tests/reference/solve.hpp"

#include <array>
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

/// C(t) = sum_x exp(-i p.(x - origin)) Tr[sink S source g5 S^+ g5], p = 2 pi n / L in space; absolute time slices.
std::vector<Complex> meson(const Propagator& propagator, const Matrix<4>& sink, const Matrix<4>& source, const std::array<int, 3>& n = {},
                           const Coord& origin = {});

/// The same with Tr[sink S source g5 T^+ g5].
std::vector<Complex> meson(const Propagator& s, const Propagator& t, const Matrix<4>& sink, const Matrix<4>& source,
                           const std::array<int, 3>& n = {}, const Coord& origin = {});

/// C(t) = sum_x exp(-i p.(x - origin)) tr[projector <J Jbar>], J = eps_abc (q0_a^T gamma q1_b) q2_c, by Wick's theorem: the sum over all
/// ways to contract quarks with antiquarks of their flavour. flavours: of q0, q1, q2.
std::vector<Complex> baryon(const Propagator& propagator, const Matrix<4>& gamma_of_diquark, const Matrix<4>& projector,
                            const std::array<int, 3>& flavours, const std::array<int, 3>& n = {}, const Coord& origin = {});

/// weight eps_abc (q0_a^T gamma q1_b) q2_c of quarks of these flavours.
struct BaryonTerm {
  double weight;
  std::array<int, 3> flavours;
};

/// The same of J = the sum of these terms, propagators: of each flavour.
std::vector<Complex> baryon(const std::vector<const Propagator*>& propagators, const std::vector<BaryonTerm>& terms,
                            const Matrix<4>& gamma_of_diquark, const Matrix<4>& projector, const std::array<int, 3>& n = {},
                            const Coord& origin = {});

/// The same with a current on the quarks of one flavour: each of them in turn has `inserted` for its propagator, sum_y S(x, y) Gamma S(y,
/// 0).
std::vector<Complex> baryon(const Propagator& propagator, const Propagator& inserted, int flavour, const Matrix<4>& gamma_of_diquark,
                            const Matrix<4>& projector, const std::array<int, 3>& flavours, const std::array<int, 3>& n = {},
                            const Coord& origin = {});

/// exp(i q.(y - origin)) Gamma S(y) on one time slice, zero elsewhere: of it M^-1 makes `inserted`.
Field insert_local(const Field& column, const Matrix<4>& gamma, int time, const std::array<int, 3>& q, const Coord& origin);

/// The conserved vector current of M = 1 - kappa H on the links from y in direction mu, y on one time slice:
/// exp(i q.(y - origin)) kappa [(1 + g_mu) U_mu^+(y) S(y) at y + mu, -(1 - g_mu) U_mu(y) S(y + mu) at y].
Field insert_conserved(const HostGauge& gauge, double kappa, const Field& column, int mu, int time, const std::array<int, 3>& q,
                       const Coord& origin, const Boundary& boundary = {});

/// G_n = g_1^b0 g_2^b1 g_3^b2 g_4^b3, n = b0 + 2 b1 + 4 b2 + 8 b3, DeGrand-Rossi basis.
Matrix<4> gamma_product(int n);

/// exp(-i p.(x - origin)).
Complex plane_wave(const Coord& x, const std::array<int, 3>& n, const Coord& origin, const Coord& extents);

/// Staggered local pion of gamma_0 gamma_5, as MILC has it: C(t) = sum_x (-1)^(x+y+z+t) |G|^2, the exponent counted from `origin`; absolute
/// time slices.
std::vector<double> staggered_pion05(const Propagator& propagator, const Coord& origin);

/// Staggered local rho: C(t) = sum_x (-1)^{x_i} |G|^2.
std::vector<double> staggered_rho(const Propagator& propagator, int i);

}  // namespace quarkstar::reference
