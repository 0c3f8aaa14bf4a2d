#pragma once
// Complex numbers over a pack of reals V (a vector of lanes on a CPU, one real on a GPU), with a fixed order of operations.
#include "runtime/gpu/host_device.hpp"

namespace quarkstar::site {

/// re and im are separate packs: lane l of both is one complex number.
template <class V>
struct Complex {
  V re, im;
};

/// i^Power z, with Power in 0..3: exchanges and sign changes only.
template <int Power, class V>
QUARKSTAR_HD Complex<V> times_i(const Complex<V>& z) {
  static_assert(Power >= 0 && Power < 4);
  if constexpr (Power == 0) return z;
  else if constexpr (Power == 1) return {-z.im, z.re};
  else if constexpr (Power == 2) return {-z.re, -z.im};
  else return {z.im, -z.re};
}

/// a + i^Power z.
template <int Power, class V>
QUARKSTAR_HD Complex<V> add_times_i(const Complex<V>& a, const Complex<V>& z) {
  static_assert(Power >= 0 && Power < 4);
  if constexpr (Power == 0) return {a.re + z.re, a.im + z.im};
  else if constexpr (Power == 1) return {a.re - z.im, a.im + z.re};
  else if constexpr (Power == 2) return {a.re - z.re, a.im - z.im};
  else return {a.re + z.im, a.im - z.re};
}

/// The same two with sign i^Power z, where `sign` is 1 or -1: one product or fused multiply-add more or in place of an addition, and the
/// same bits.
template <int Power, class V>
QUARKSTAR_HD Complex<V> times_i(const Complex<V>& z, V sign) {
  const Complex<V> turned = times_i<Power>(z);
  return {sign * turned.re, sign * turned.im};
}
template <int Power, class V>
QUARKSTAR_HD Complex<V> add_times_i(const Complex<V>& a, const Complex<V>& z, V sign) {
  const Complex<V> turned = times_i<Power>(z);
  return {fma(sign, turned.re, a.re), fma(sign, turned.im, a.im)};
}

/// a b.
template <class V>
QUARKSTAR_HD Complex<V> multiply(const Complex<V>& a, const Complex<V>& b) {
  return {fnma(a.im, b.im, a.re * b.re), fma(a.im, b.re, a.re * b.im)};
}

/// sum + a b.
template <class V>
QUARKSTAR_HD Complex<V> multiply_add(const Complex<V>& a, const Complex<V>& b, const Complex<V>& sum) {
  return {fnma(a.im, b.im, fma(a.re, b.re, sum.re)), fma(a.im, b.re, fma(a.re, b.im, sum.im))};
}

/// a* b.
template <class V>
QUARKSTAR_HD Complex<V> conjugate_multiply(const Complex<V>& a, const Complex<V>& b) {
  return {fma(a.im, b.im, a.re * b.re), fnma(a.im, b.re, a.re * b.im)};
}

/// sum + a* b.
template <class V>
QUARKSTAR_HD Complex<V> conjugate_multiply_add(const Complex<V>& a, const Complex<V>& b, const Complex<V>& sum) {
  return {fma(a.im, b.im, fma(a.re, b.re, sum.re)), fnma(a.im, b.re, fma(a.re, b.im, sum.im))};
}

/// (a b - c d)*, the third row of an SU(3) matrix from the first two.
template <class V>
QUARKSTAR_HD Complex<V> conjugate_cross(const Complex<V>& a, const Complex<V>& b, const Complex<V>& c, const Complex<V>& d) {
  const V re = fma(c.im, d.im, fnma(c.re, d.re, fnma(a.im, b.im, a.re * b.re)));
  const V im = fnma(a.im, b.re, fnma(a.re, b.im, fma(c.im, d.re, c.re * d.im)));
  return {re, im};
}

}  // namespace quarkstar::site
