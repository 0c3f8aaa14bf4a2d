#pragma once
// A gauge link on a pack of reals, its stored forms, and its action on a colour vector.
#include "codelets/site/complex.hpp"
#include "codelets/site/unroll.hpp"

namespace quarkstar::site {

/// u[row][column].
template <class V>
using Link = Complex<V>[3][3];

/// Fills row 2 from rows 0 and 1 of an SU(3) matrix: u2 = (u0 x u1)*. 42 flop.
template <class V>
QUARKSTAR_HD void reconstruct_row(Link<V>& u) {
  u[2][0] = conjugate_cross(u[0][1], u[1][2], u[0][2], u[1][1]);
  u[2][1] = conjugate_cross(u[0][2], u[1][0], u[0][0], u[1][2]);
  u[2][2] = conjugate_cross(u[0][0], u[1][1], u[0][1], u[1][0]);
}

/// Loads a link stored as Reals numbers (18: all rows; 12: two rows) through `load(i)`, which returns the i-th real.
template <int Reals, class V, class Load>
QUARKSTAR_HD void load_link(Link<V>& u, Load&& load) {
  static_assert(Reals == 18 || Reals == 12);
  unroll<Reals / 6>([&](auto row) QUARKSTAR_INLINE_LAMBDA {
    unroll<3>([&](auto column) QUARKSTAR_INLINE_LAMBDA {
      constexpr int i = (row * 3 + column) * 2;
      u[row][column] = {load(Index<i>{}), load(Index<i + 1>{})};
    });
  });
  if constexpr (Reals == 12) reconstruct_row(u);
}

/// Row a of U h (Dagger false) or U^+ h (Dagger true). 22 flop a row and colour vector.
template <bool Dagger, class V>
QUARKSTAR_HD Complex<V> row_times(const Link<V>& u, int a, const Complex<V> (&h)[3]) {
  if constexpr (Dagger) {
    const Complex<V> first = conjugate_multiply(u[0][a], h[0]);
    return conjugate_multiply_add(u[2][a], h[2], conjugate_multiply_add(u[1][a], h[1], first));
  } else {
    const Complex<V> first = multiply(u[a][0], h[0]);
    return multiply_add(u[a][2], h[2], multiply_add(u[a][1], h[1], first));
  }
}

}  // namespace quarkstar::site
