#pragma once
// A gauge link on a pack of reals, its stored forms, and its action on a colour vector.
#include "codelets/field/storage.hpp"
#include "codelets/su3/compact_link.hpp"

namespace quarkstar::site {

/// Fills rows 0 and 1 from 8 stored numbers (compact_link.hpp), in half precision in units of link_unit.
template <class F, class Loads, class V>
QUARKSTAR_HD void load_compact_rows(Link<V>& u, const F* p, int lanes) {
  V number[8], size = V::broadcast(1);
  unroll<4>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
    if constexpr (is_half<F>) {
      const Complex<V> pair = Loads::template pair<V>(p + i * lanes);
      number[2 * i] = pair.re;
      number[2 * i + 1] = pair.im;
    } else {
      number[2 * i] = Loads::template real<V>(p + 2 * i * lanes);
      number[2 * i + 1] = Loads::template real<V>(p + (2 * i + 1) * lanes);
    }
  });
  V flag0 = number[sign_of_row0], flag1 = number[sign_of_row1];
  if constexpr (is_half<F>) {  // with the bias the last bit of an integer is the last bit of its float
    flag0 = flag0 + V::broadcast(fixed_point_bias);
    flag1 = flag1 + V::broadcast(fixed_point_bias);
    size = V::broadcast(fixed_point_most);
    unroll<8>([&](auto i) QUARKSTAR_INLINE_LAMBDA { number[i] = number[i] * V::broadcast(link_unit); });
  }
  expand_rows(u, number, flag0, flag1, size);
}

/// Loads a link stored as Reals numbers in format F (18: all rows; 12: two rows; 8: compact_link.hpp). In half precision u is in units
/// of link_unit.
template <class F, int Reals, class Loads, class V>
QUARKSTAR_HD void load_link(Link<V>& u, const F* p, int lanes) {
  static_assert(Reals == 18 || Reals == 12 || Reals == 8);
  if constexpr (Reals == 8) {
    load_compact_rows<F, Loads>(u, p, lanes);
  } else {
    unroll<Reals / 2>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
      if constexpr (is_half<F>) u[i / 3][i % 3] = Loads::template pair<V>(p + i * lanes);
      else u[i / 3][i % 3] = {Loads::template real<V>(p + 2 * i * lanes), Loads::template real<V>(p + (2 * i + 1) * lanes)};
    });
  }
  if constexpr (Reals != 18) {
    reconstruct_row(u);
    if constexpr (is_half<F>)  // a product of two rows has two units
      unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
        u[2][c] = {u[2][c].re * V::broadcast(link_unit), u[2][c].im * V::broadcast(link_unit)};
      });
  }
}

/// Row a of U h (Dagger false) or U^+ h (Dagger true). 22 flop per row and colour vector.
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
