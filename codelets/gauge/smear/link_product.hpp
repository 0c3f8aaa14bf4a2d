#pragma once
// Products of links on a pack of reals.
#include "codelets/su3/link.hpp"

namespace quarkstar::smear {

using site::Complex;
using site::Link;
using site::unroll;

/// c = a b. 198 flop.
template <class V>
QUARKSTAR_HD void multiply(Link<V>& c, const Link<V>& a, const Link<V>& b) {
  unroll<9>([&](auto e) QUARKSTAR_INLINE_LAMBDA {
    constexpr int i = e / 3, j = e % 3;
    c[i][j] = site::multiply_add(a[i][2], b[2][j], site::multiply_add(a[i][1], b[1][j], site::multiply(a[i][0], b[0][j])));
  });
}

/// c = a b^+. 198 flop.
template <class V>
QUARKSTAR_HD void multiply_adjoint(Link<V>& c, const Link<V>& a, const Link<V>& b) {
  unroll<9>([&](auto e) QUARKSTAR_INLINE_LAMBDA {
    constexpr int i = e / 3, j = e % 3;
    const Complex<V> first = site::conjugate_multiply(b[j][0], a[i][0]);
    c[i][j] = site::conjugate_multiply_add(b[j][2], a[i][2], site::conjugate_multiply_add(b[j][1], a[i][1], first));
  });
}

/// c += a b. 216 flop.
template <class V>
QUARKSTAR_HD void multiply_add(Link<V>& c, const Link<V>& a, const Link<V>& b) {
  unroll<9>([&](auto e) QUARKSTAR_INLINE_LAMBDA {
    constexpr int i = e / 3, j = e % 3;
    c[i][j] = site::multiply_add(a[i][2], b[2][j], site::multiply_add(a[i][1], b[1][j], site::multiply_add(a[i][0], b[0][j], c[i][j])));
  });
}

/// c = weight a.
template <class V>
QUARKSTAR_HD void scale(Link<V>& c, const V& weight, const Link<V>& a) {
  unroll<9>([&](auto e) QUARKSTAR_INLINE_LAMBDA {
    constexpr int i = e / 3, j = e % 3;
    c[i][j] = {weight * a[i][j].re, weight * a[i][j].im};
  });
}

/// c = weight a + b.
template <class V>
QUARKSTAR_HD void scale_add(Link<V>& c, const V& weight, const Link<V>& a, const Link<V>& b) {
  unroll<9>([&](auto e) QUARKSTAR_INLINE_LAMBDA {
    constexpr int i = e / 3, j = e % 3;
    c[i][j] = {fma(weight, a[i][j].re, b[i][j].re), fma(weight, a[i][j].im, b[i][j].im)};
  });
}

template <class V>
QUARKSTAR_HD void set_zero(Link<V>& c, const V& zero) {
  unroll<9>([&](auto e) QUARKSTAR_INLINE_LAMBDA { c[e / 3][e % 3] = {zero, zero}; });
}

}  // namespace quarkstar::smear
