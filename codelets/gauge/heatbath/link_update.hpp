#pragma once
// The update of one gauge link in the field of its staples: three SU(2) subgroups in turn.
#include "codelets/gauge/heatbath/su2.hpp"
#include "codelets/gauge/matrix3.hpp"

namespace quarkstar::heatbath {

using gauge::Complex;
using gauge::Matrix3;

/// The SU(2) part w of rows and columns (i, j) of u a: for g in SU(2), embedded there,
/// Re tr(g u a) = 2 (g0 w0 - g1 w1 - g2 w2 - g3 w3) + a constant.
template <int i, int j>
Su2 subgroup_part(const Matrix3& u, const Matrix3& a) {
  Complex ii{}, ij{}, ji{}, jj{};
  for (int k = 0; k < 3; ++k) {
    ii += gauge::multiply(u.e[i][k], a.e[k][i]);
    ij += gauge::multiply(u.e[i][k], a.e[k][j]);
    ji += gauge::multiply(u.e[j][k], a.e[k][i]);
    jj += gauge::multiply(u.e[j][k], a.e[k][j]);
  }
  return {0.5 * (ii[0] + jj[0]), 0.5 * (ij[1] + ji[1]), 0.5 * (ij[0] - ji[0]), 0.5 * (ii[1] - jj[1])};
}

/// u <- g u with g embedded in rows and columns (i, j).
template <int i, int j>
void multiply_from_left(const Su2& g, Matrix3& u) {
  const Complex g_ii{g.a0, g.a3}, g_ij{g.a2, g.a1}, g_ji{-g.a2, g.a1}, g_jj{g.a0, -g.a3};
  for (int k = 0; k < 3; ++k) {
    const Complex upper = u.e[i][k], lower = u.e[j][k];
    u.e[i][k] = gauge::multiply(g_ii, upper) + gauge::multiply(g_ij, lower);
    u.e[j][k] = gauge::multiply(g_ji, upper) + gauge::multiply(g_jj, lower);
  }
}

/// u <- g_3 g_2 g_1 u, where g_s = step(w, s) in SU(2) is chosen from the subgroup's part w of (updated u) x staple.
/// Source: Cabibbo and Marinari, Phys. Lett. B 119 (1982) 387.
template <class Step>
void update_subgroups(Matrix3& u, const Matrix3& staple, Step&& step) {
  multiply_from_left<0, 1>(step(subgroup_part<0, 1>(u, staple), 0), u);
  multiply_from_left<0, 2>(step(subgroup_part<0, 2>(u, staple), 1), u);
  multiply_from_left<1, 2>(step(subgroup_part<1, 2>(u, staple), 2), u);
}

/// Pseudo-heatbath for the weight exp((beta/3) Re tr(u staple)), then reunitarization. stream(s) makes the random
/// numbers of subgroup s. The weight of g v, v = direction of w, is exp((2 beta/3) |w| (g v)_0).
template <class Stream>
void heatbath_link(Matrix3& u, const Matrix3& staple, double beta, Stream&& stream) {
  update_subgroups(u, staple, [&](const Su2& w, int subgroup) {
    const Polar v = polar(w);
    RandomStream random = stream(subgroup);
    return multiply_adjoint(sample(2.0 / 3.0 * beta * v.length, random), v.direction);
  });
  gauge::reunitarize(u);
}

/// Microcanonical overrelaxation: v -> v^+ in every subgroup, by g = (v^+)^2. Leaves Re tr(u staple) as it is.
inline void overrelax_link(Matrix3& u, const Matrix3& staple) {
  update_subgroups(u, staple, [](const Su2& w, int) {
    const Su2 v = polar(w).direction;
    return multiply_adjoint(Su2{v.a0, -v.a1, -v.a2, -v.a3}, v);
  });
}

}  // namespace quarkstar::heatbath
