#pragma once
// Long links of improved staggered fermions: a real scale times a U(3) matrix, stored whole or compressed (docs/conventions.md, 6).
#include "codelets/field/storage.hpp"
#include "codelets/su3/link.hpp"

namespace quarkstar::site {

/// e^{i pi t} for |t| <= 1: Taylor series at a quarter of the angle, then doubled twice; error below 1e-15. 48 flop.
template <class V>
QUARKSTAR_HD Complex<V> unit_phase(const V& t) {
  // 1 / 2!, 1 / 4!, ... and 1 / 3!, 1 / 5!, ... with alternating signs; the argument is at most pi / 4.
  constexpr double cosine[] = {-1 / 2.,       1 / 24.,        -1 / 720.,         1 / 40320.,
                               -1 / 3628800., 1 / 479001600., -1 / 87178291200., 1 / 20922789888000.};
  constexpr double sine[] = {-1 / 6.,        1 / 120.,        -1 / 5040.,          1 / 362880.,
                             -1 / 39916800., 1 / 6227020800., -1 / 1307674368000., 1 / 355687428096000.};
  const V angle = t * V::broadcast(0.78539816339744830962);
  const V square = angle * angle;
  V c = V::broadcast(cosine[7]), s = V::broadcast(sine[7]);
  for (int i = 6; i >= 0; --i) {
    c = fma(c, square, V::broadcast(cosine[i]));
    s = fma(s, square, V::broadcast(sine[i]));
  }
  Complex<V> z{fma(c, square, V::broadcast(1)), fma(s * square, angle, angle)};
  for (int i = 0; i < 2; ++i) {
    const V product = z.re * z.im;
    z = {fnma(z.im, z.im, z.re * z.re), product + product};
  }
  return z;
}

/// Row 2 of c V, V in U(3) and c real, from its rows 0 and 1: (det V / c) (u0 x u1)*. phase_over_scale = det V / c. 60 flop.
template <class V>
QUARKSTAR_HD void reconstruct_row_times(Link<V>& u, const Complex<V>& phase_over_scale) {
  reconstruct_row(u);
  unroll<3>([&](auto column) QUARKSTAR_INLINE_LAMBDA { u[2][column] = multiply(phase_over_scale, u[2][column]); });
}

/// u = f S, S in SU(3) with the rows b, a, -c where the matrix (rows a, b, c) was made from eight numbers: a2, a3, b1 and the phases of
/// a1 and c1 in units of pi (stored = {Re a2, Im a2, Re a3, Im a3, Re b1, Im b1, arg a1, arg c1}). The exchange keeps links near 1 away
/// from the formulas' singularity at |a1| = 1. About 330 flop. Source: Clark et al., arXiv:0911.3191.
template <class V>
QUARKSTAR_HD void reconstruct_from_eight(Link<V>& u, const V (&stored)[8], const Complex<V>& f) {
  const Complex<V> a2{stored[0], stored[1]}, a3{stored[2], stored[3]}, b1{stored[4], stored[5]};
  const V n = fma(a3.im, a3.im, fma(a3.re, a3.re, fma(a2.im, a2.im, a2.re * a2.re)));
  const V b = fma(b1.im, b1.im, b1.re * b1.re);
  const Complex<V> a1 = scaled(root(V::broadcast(1) - n), unit_phase<V>(stored[6]));
  const Complex<V> c1 = scaled(root(n - b), unit_phase<V>(stored[7]));
  const V over_n = V::broadcast(1) / n;
  const Complex<V> from_b = conjugate_multiply(a1, b1), from_c = conjugate_multiply(a1, c1);
  const Complex<V> b2 = scaled(-over_n, multiply_add(from_b, a2, conjugate_multiply(c1, conj(a3))));
  const Complex<V> b3 = scaled(over_n, multiply_add({-from_b.re, -from_b.im}, a3, conjugate_multiply(c1, conj(a2))));
  const Complex<V> c2 = scaled(over_n, multiply_add({-from_c.re, -from_c.im}, a2, conjugate_multiply(b1, conj(a3))));
  const Complex<V> c3 = scaled(-over_n, multiply_add(from_c, a3, conjugate_multiply(b1, conj(a2))));
  const Complex<V> minus_f{-f.re, -f.im}, first[3] = {b1, b2, b3}, second[3] = {a1, a2, a3}, third[3] = {c1, c2, c3};
  unroll<3>([&](auto column) QUARKSTAR_INLINE_LAMBDA {
    u[0][column] = multiply(f, first[column]);
    u[1][column] = multiply(f, second[column]);
    u[2][column] = multiply(minus_f, third[column]);
  });
}

/// What load_long_link() needs besides the stored numbers to make c V, c real and V in U(3): for 14 and 13 reals 1 / |c|, for 9 |c|. In
/// half precision the loaded link is in units of |c| / 32767, which changes the number.
inline double long_link_factor(int reals, double scale, bool half) {
  const double size = scale < 0 ? -scale : scale;
  const double in_units = half ? static_cast<double>(fixed_point_most) : size;
  return reals == 9 ? in_units : 1 / in_units;
}

/// Loads a link of c V, V in U(3), stored in format F as Reals numbers: 18: three rows of c V; 14: two rows and det V |c| / c; 13: two
/// rows and the phase of that in units of pi; 9: the eight numbers of reconstruct_from_eight() for S and the phase t of
/// c V = |c| e^{i pi t} S. In half precision rows are in units of |c| / 32767, and so is the result; other numbers in units of 1 / 32767.
template <class F, int Reals, class Loads, class V>
QUARKSTAR_HD void load_long_link(Link<V>& u, const V& factor, const F* p, int lanes) {
  static_assert(Reals == 18 || Reals == 14 || Reals == 13 || Reals == 9);
  /// Numbers 2 i and 2 i + 1 as stored; an odd last one comes alone.
  const auto pair = [&](auto i) QUARKSTAR_INLINE_LAMBDA -> Complex<V> {
    if constexpr (is_half<F>) return Loads::template pair<V>(p + i * lanes);
    else if constexpr (2 * i + 1 < Reals)
      return {Loads::template real<V>(p + 2 * i * lanes), Loads::template real<V>(p + (2 * i + 1) * lanes)};
    else return {Loads::template real<V>(p + 2 * i * lanes), V::broadcast(0)};
  };
  const auto absolute = [&](auto i) QUARKSTAR_INLINE_LAMBDA {
    if constexpr (is_half<F>) return scaled(V::broadcast(link_unit), pair(i));
    else return pair(i);
  };
  if constexpr (Reals == 9) {
    V stored[8];
    unroll<4>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
      const Complex<V> z = absolute(i);
      stored[2 * i] = z.re;
      stored[2 * i + 1] = z.im;
    });
    reconstruct_from_eight(u, stored, scaled(factor, unit_phase<V>(absolute(Index<4>{}).re)));
  } else {
    unroll<(Reals == 18 ? 9 : 6)>([&](auto i) QUARKSTAR_INLINE_LAMBDA { u[i / 3][i % 3] = pair(i); });
    if constexpr (Reals == 14) reconstruct_row_times(u, scaled(factor, absolute(Index<6>{})));
    if constexpr (Reals == 13) reconstruct_row_times(u, scaled(factor, unit_phase<V>(absolute(Index<6>{}).re)));
  }
}

}  // namespace quarkstar::site
