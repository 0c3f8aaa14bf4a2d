#pragma once
// Complex arithmetic on packs of reals (a vector register on a CPU, one real on a GPU), with a fixed order of operations.
#include "runtime/gpu/host_device.hpp"

#include <type_traits>

namespace quarkstar::site {

/// A double by itself is a pack of one lane, and the compiler's vector of doubles one of several, whose products round one by one, which
/// every processor has in hardware: what configurations and their reunitarization are computed with. Lane and Pack, which are classes,
/// multiply and add in one rounding.
template <class V>
concept RoundsProducts = !std::is_class_v<V>;
template <RoundsProducts V>
QUARKSTAR_HD V fma(V a, V b, V c) {
  return a * b + c;
}
template <RoundsProducts V>
QUARKSTAR_HD V fnma(V a, V b, V c) {
  return c - a * b;
}

/// re and im are separate packs: lane l of both is one complex number.
template <class V>
struct Complex {
  V re, im;
};

template <class V>
QUARKSTAR_HD Complex<V> operator+(const Complex<V>& a, const Complex<V>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
QUARKSTAR_HD Complex<V> operator-(const Complex<V>& a, const Complex<V>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class V>
QUARKSTAR_HD Complex<V> conj(const Complex<V>& z) {
  return {z.re, -z.im};
}
template <class V>
QUARKSTAR_HD Complex<V> scaled(const V& factor, const Complex<V>& z) {
  return {factor * z.re, factor * z.im};
}
/// Re a* b.
template <class V>
QUARKSTAR_HD V real_dot(const Complex<V>& a, const Complex<V>& b) {
  return fma(a.im, b.im, a.re * b.re);
}
template <class V>
QUARKSTAR_HD V norm2(const Complex<V>& z) {
  return real_dot(z, z);
}

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
  if constexpr (RoundsProducts<V>) return sum + multiply(a, b);
  else return {fnma(a.im, b.im, fma(a.re, b.re, sum.re)), fma(a.im, b.re, fma(a.re, b.im, sum.im))};
}

/// a* b.
template <class V>
QUARKSTAR_HD Complex<V> conjugate_multiply(const Complex<V>& a, const Complex<V>& b) {
  return {real_dot(a, b), fnma(a.im, b.re, a.re * b.im)};
}

/// sum + a* b.
template <class V>
QUARKSTAR_HD Complex<V> conjugate_multiply_add(const Complex<V>& a, const Complex<V>& b, const Complex<V>& sum) {
  if constexpr (RoundsProducts<V>) return sum + conjugate_multiply(a, b);
  else return {fma(a.im, b.im, fma(a.re, b.re, sum.re)), fnma(a.im, b.re, fma(a.re, b.im, sum.im))};
}

/// (a b - c d)*, the third row of an SU(3) matrix from the first two.
template <class V>
QUARKSTAR_HD Complex<V> conjugate_cross(const Complex<V>& a, const Complex<V>& b, const Complex<V>& c, const Complex<V>& d) {
  if constexpr (RoundsProducts<V>) return conj(multiply(a, b) - multiply(c, d));
  const V re = fma(c.im, d.im, fnma(c.re, d.re, fnma(a.im, b.im, a.re * b.re)));
  const V im = fnma(a.im, b.re, fnma(a.re, b.im, fma(c.im, d.re, c.re * d.im)));
  return {re, im};
}

}  // namespace quarkstar::site
