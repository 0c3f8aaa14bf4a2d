#pragma once
// The update of one gauge link in the field of its staples: three SU(2) subgroups in turn.
#include "codelets/gauge/heatbath/su2.hpp"
#include "codelets/su3/unitarize.hpp"

namespace quarkstar::heatbath {

using Complex = site::Complex<double>;
using Matrix = site::Link<double>;

/// The SU(2) part w of rows and columns (i, j) of u a: for g in SU(2), embedded there,
/// Re tr(g u a) = 2 (g0 w0 - g1 w1 - g2 w2 - g3 w3) + a constant.
template <int i, int j>
QUARKSTAR_HD Su2 subgroup_part(const Matrix& u, const Matrix& a) {
  Complex ii{}, ij{}, ji{}, jj{};
  for (int k = 0; k < 3; ++k) {
    ii = multiply_add(u[i][k], a[k][i], ii);
    ij = multiply_add(u[i][k], a[k][j], ij);
    ji = multiply_add(u[j][k], a[k][i], ji);
    jj = multiply_add(u[j][k], a[k][j], jj);
  }
  return {0.5 * (ii.re + jj.re), 0.5 * (ij.im + ji.im), 0.5 * (ij.re - ji.re), 0.5 * (ii.im - jj.im)};
}

/// u <- g u with g embedded in rows and columns (i, j).
template <int i, int j>
QUARKSTAR_HD void multiply_from_left(const Su2& g, Matrix& u) {
  const Complex g_ii{g.a0, g.a3}, g_ij{g.a2, g.a1}, g_ji{-g.a2, g.a1}, g_jj{g.a0, -g.a3};
  for (int k = 0; k < 3; ++k) {
    const Complex upper = u[i][k], lower = u[j][k];
    u[i][k] = multiply_add(g_ij, lower, multiply(g_ii, upper));
    u[j][k] = multiply_add(g_jj, lower, multiply(g_ji, upper));
  }
}

/// u <- g_3 g_2 g_1 u, where g_s = step(w, s) in SU(2) is chosen from the subgroup's part w of (updated u) x staple.
/// Source: Cabibbo and Marinari, Phys. Lett. B 119 (1982) 387.
template <class Step>
QUARKSTAR_HD void update_subgroups(Matrix& u, const Matrix& staple, Step&& step) {
  multiply_from_left<0, 1>(step(subgroup_part<0, 1>(u, staple), 0), u);
  multiply_from_left<0, 2>(step(subgroup_part<0, 2>(u, staple), 1), u);
  multiply_from_left<1, 2>(step(subgroup_part<1, 2>(u, staple), 2), u);
}

/// Pseudo-heatbath for the weight exp((beta/3) Re tr(u staple)), then reunitarization. stream(s) makes the random
/// numbers of subgroup s. The weight of g v, v = direction of w, is exp((2 beta/3) |w| (g v)_0).
template <class Stream>
QUARKSTAR_HD void heatbath_link(Matrix& u, const Matrix& staple, double beta, Stream&& stream) {
  update_subgroups(u, staple, [&](const Su2& w, int subgroup) QUARKSTAR_INLINE_LAMBDA {
    const Polar v = polar(w);
    RandomStream random = stream(subgroup);
    return multiply_adjoint(sample(2.0 / 3.0 * beta * v.length, random), v.direction);
  });
  reunitarize(u);
}

/// Microcanonical overrelaxation: v -> v^+ in every subgroup, by g = (v^+)^2. Leaves Re tr(u staple) as it is.
QUARKSTAR_HD void overrelax_link(Matrix& u, const Matrix& staple) {
  update_subgroups(u, staple, [](const Su2& w, int) QUARKSTAR_INLINE_LAMBDA {
    const Su2 v = polar(w).direction;
    return multiply_adjoint(Su2{v.a0, -v.a1, -v.a2, -v.a3}, v);
  });
}

}  // namespace quarkstar::heatbath
