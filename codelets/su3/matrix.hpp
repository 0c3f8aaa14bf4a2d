#pragma once
// 3x3 complex matrices on packs of reals: the algebra of links, smearing, heatbath and observables.
#include "codelets/arch/unroll.hpp"
#include "codelets/su3/complex.hpp"

#include <cstddef>

namespace quarkstar::site {

/// u[row][column].
template <class V>
struct Link {
  Complex<V> entries[3][3];
  QUARKSTAR_HD Complex<V> (&operator[](int row))[3] { return entries[row]; }
  QUARKSTAR_HD const Complex<V> (&operator[](int row) const)[3] { return entries[row]; }
};

/// The matrix of entries entry(Index<row>, Index<column>).
template <class V, class Entry>
QUARKSTAR_HD Link<V> link_of(Entry&& entry) {
  Link<V> u;
  unroll<9>([&](auto e) QUARKSTAR_INLINE_LAMBDA { u[e / 3][e % 3] = entry(Index<e / 3>{}, Index<e % 3>{}); });
  return u;
}

/// 18 reals, row by row, {re, im}, `stride` apart.
QUARKSTAR_HD Link<double> read_link(const double* reals, std::ptrdiff_t stride = 1) {
  return link_of<double>([&](int i, int j) {
    return Complex<double>{reals[(6 * i + 2 * j) * stride], reals[(6 * i + 2 * j + 1) * stride]};
  });
}
QUARKSTAR_HD void write_link(double* reals, const Link<double>& u, std::ptrdiff_t stride = 1) {
  for (int e = 0; e < 9; ++e) {
    reals[2 * e * stride] = u[e / 3][e % 3].re;
    reals[(2 * e + 1) * stride] = u[e / 3][e % 3].im;
  }
}

template <class V>
QUARKSTAR_HD Link<V> operator+(const Link<V>& a, const Link<V>& b) {
  return link_of<V>([&](auto i, auto j) QUARKSTAR_INLINE_LAMBDA { return a[i][j] + b[i][j]; });
}

/// a b. 198 flop.
template <class V>
QUARKSTAR_HD Link<V> multiply(const Link<V>& a, const Link<V>& b) {
  return link_of<V>([&](auto i, auto j) QUARKSTAR_INLINE_LAMBDA {
    return multiply_add(a[i][2], b[2][j], multiply_add(a[i][1], b[1][j], multiply(a[i][0], b[0][j])));
  });
}

/// a b^+. 198 flop.
template <class V>
QUARKSTAR_HD Link<V> multiply_adjoint(const Link<V>& a, const Link<V>& b) {
  return link_of<V>([&](auto i, auto j) QUARKSTAR_INLINE_LAMBDA {
    const Complex<V> first = conjugate_multiply(b[j][0], a[i][0]);
    return conjugate_multiply_add(b[j][2], a[i][2], conjugate_multiply_add(b[j][1], a[i][1], first));
  });
}

/// a^+ b. 198 flop.
template <class V>
QUARKSTAR_HD Link<V> adjoint_multiply(const Link<V>& a, const Link<V>& b) {
  return link_of<V>([&](auto i, auto j) QUARKSTAR_INLINE_LAMBDA {
    const Complex<V> first = conjugate_multiply(a[0][i], b[0][j]);
    return conjugate_multiply_add(a[2][i], b[2][j], conjugate_multiply_add(a[1][i], b[1][j], first));
  });
}

/// sum + a b. 216 flop.
template <class V>
QUARKSTAR_HD Link<V> multiply_add(const Link<V>& a, const Link<V>& b, const Link<V>& sum) {
  return link_of<V>([&](auto i, auto j) QUARKSTAR_INLINE_LAMBDA {
    return multiply_add(a[i][2], b[2][j], multiply_add(a[i][1], b[1][j], multiply_add(a[i][0], b[0][j], sum[i][j])));
  });
}

template <class V>
QUARKSTAR_HD Link<V> scaled(const V& factor, const Link<V>& a) {
  return link_of<V>([&](auto i, auto j) QUARKSTAR_INLINE_LAMBDA { return scaled(factor, a[i][j]); });
}

/// factor a + b.
template <class V>
QUARKSTAR_HD Link<V> scaled_add(const V& factor, const Link<V>& a, const Link<V>& b) {
  return link_of<V>([&](auto i, auto j) QUARKSTAR_INLINE_LAMBDA {
    return Complex<V>{fma(factor, a[i][j].re, b[i][j].re), fma(factor, a[i][j].im, b[i][j].im)};
  });
}

/// Re tr(a b^+).
QUARKSTAR_HD double real_trace_adjoint(const Link<double>& a, const Link<double>& b) {
  double sum = 0;
  for (int e = 0; e < 9; ++e) sum += real_dot(a[e / 3][e % 3], b[e / 3][e % 3]);
  return sum;
}

template <class V>
QUARKSTAR_HD V norm2(const Complex<V>& a, const Complex<V>& b, const Complex<V>& c) {
  return norm2(a) + norm2(b) + norm2(c);
}

/// Fills row 2 from rows 0 and 1 of an SU(3) matrix: u2 = (u0 x u1)*. 42 flop.
template <class V>
QUARKSTAR_HD void reconstruct_row(Link<V>& u) {
  u[2][0] = conjugate_cross(u[0][1], u[1][2], u[0][2], u[1][1]);
  u[2][1] = conjugate_cross(u[0][2], u[1][0], u[0][0], u[1][2]);
  u[2][2] = conjugate_cross(u[0][0], u[1][1], u[0][1], u[1][0]);
}

}  // namespace quarkstar::site
