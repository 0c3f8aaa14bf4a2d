#pragma once
// Long links of improved staggered fermions: a real scale times a U(3) matrix, stored whole or compressed (docs/conventions.md, 6).
#include "codelets/site/link.hpp"

namespace quarkstar::site {

/// e^{i pi t} for |t| <= 1: Taylor series at a quarter of the angle, then doubled twice; error below 1e-15. 48 flop.
template <class V>
QUARKSTAR_HD Complex<V> unit_phase(const V& t) {
  // 1 / 2!, 1 / 4!, ... and 1 / 3!, 1 / 5!, ... with alternating signs; the argument is at most pi / 4.
  constexpr double cosine[] = {-1 / 2., 1 / 24., -1 / 720., 1 / 40320., -1 / 3628800., 1 / 479001600., -1 / 87178291200., 1 / 20922789888000.};
  constexpr double sine[] = {-1 / 6., 1 / 120., -1 / 5040., 1 / 362880., -1 / 39916800., 1 / 6227020800., -1 / 1307674368000., 1 / 355687428096000.};
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

/// Row 2 of c V, V in U(3), from its rows 0 and 1: f (u0 x u1)* with f = det V / c. 60 flop.
template <class V>
QUARKSTAR_HD void reconstruct_row_times(Link<V>& u, const Complex<V>& f) {
  reconstruct_row(u);
  unroll<3>([&](auto column) QUARKSTAR_INLINE_LAMBDA { u[2][column] = multiply(f, u[2][column]); });
}

/// Loads a long link stored as Reals numbers: 18: three rows; 14: two rows and the complex number f of reconstruct_row_times();
/// 13: two rows and the phase of f in units of pi, |f| = inverse_scale. load(i) returns the i-th real.
template <int Reals, class V, class Load>
QUARKSTAR_HD void load_long_link(Link<V>& u, const V& inverse_scale, Load&& load) {
  static_assert(Reals == 18 || Reals == 14 || Reals == 13);
  unroll<(Reals == 18 ? 3 : 2)>([&](auto row) QUARKSTAR_INLINE_LAMBDA {
    unroll<3>([&](auto column) QUARKSTAR_INLINE_LAMBDA {
      constexpr int i = (row * 3 + column) * 2;
      u[row][column] = {load(Index<i>{}), load(Index<i + 1>{})};
    });
  });
  if constexpr (Reals == 14) reconstruct_row_times(u, {load(Index<12>{}), load(Index<13>{})});
  if constexpr (Reals == 13) {
    const Complex<V> phase = unit_phase<V>(load(Index<12>{}));
    reconstruct_row_times(u, {phase.re * inverse_scale, phase.im * inverse_scale});
  }
}

}  // namespace quarkstar::site
