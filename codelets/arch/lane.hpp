#pragma once
// One lane as a pack of its own: what a GPU thread computes with, and what host code uses for single sites.
#include "codelets/field/number_format.hpp"
#include "codelets/su3/complex.hpp"
#include "runtime/gpu/host_device.hpp"

#include <cstdint>
#include <type_traits>

namespace quarkstar::site {

/// The interface of Pack with one real. Contraction must be off: products and sums round separately unless fma() is written.
template <class T>
struct Lane {
  T v;

  static QUARKSTAR_HD Lane load(const T* p) { return {*p}; }
  QUARKSTAR_HD void store(T* p) const { *p = v; }
  static QUARKSTAR_HD Lane broadcast(T value) { return {value}; }

  friend QUARKSTAR_HD Lane operator+(Lane a, Lane b) { return {a.v + b.v}; }
  friend QUARKSTAR_HD Lane operator-(Lane a, Lane b) { return {a.v - b.v}; }
  friend QUARKSTAR_HD Lane operator*(Lane a, Lane b) { return {a.v * b.v}; }
  friend QUARKSTAR_HD Lane operator/(Lane a, Lane b) { return {a.v / b.v}; }
  friend QUARKSTAR_HD Lane operator-(Lane a) { return {-a.v}; }
  friend QUARKSTAR_HD Lane fma(Lane a, Lane b, Lane c) {
    if constexpr (sizeof(T) == 4) return {__builtin_fmaf(a.v, b.v, c.v)};
    else return {__builtin_fma(a.v, b.v, c.v)};
  }
  friend QUARKSTAR_HD Lane fnma(Lane a, Lane b, Lane c) { return fma(-a, b, c); }

  /// Square root; 0 of negative numbers.
  friend QUARKSTAR_HD Lane root(Lane a) {
    if (!(a.v > 0)) return {0};
    if constexpr (sizeof(T) == 4) return {__builtin_sqrtf(a.v)};
    else return {__builtin_sqrt(a.v)};
  }

  friend QUARKSTAR_HD Lane larger_magnitude(Lane a, Lane b) {
#ifdef __CUDA_ARCH__
    float larger;  // as below, but for which NaN comes of one
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(fabsf(a.v)), "f"(fabsf(b.v)));
    return {larger};
#else
    const std::uint32_t x = bits(a.v) & 0x7fffffffu, y = bits(b.v) & 0x7fffffffu;
    return {real(x > y ? x : y)};
#endif
  }
  QUARKSTAR_HD Lane reciprocal_or_zero() const {
    constexpr T smallest = 1.17549435e-38f;
    return {v >= smallest ? T{1} / v : T{0}};
  }
  QUARKSTAR_HD Lane reciprocal() const { return {T{1} / v}; }
  QUARKSTAR_HD Lane flip_sign_by_last_bit(Lane flag) const {
    using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    const Word sign = __builtin_bit_cast(Word, flag.v) << (8 * sizeof(T) - 1);
    return {__builtin_bit_cast(T, __builtin_bit_cast(Word, v) ^ sign)};
  }
  static QUARKSTAR_HD Complex<Lane> from_word(std::uint32_t word) {
    constexpr T bias = 8421376.0f;
    const Complex<Lane> z = biased(word);
    return {{z.re.v - bias}, {z.im.v - bias}};
  }
  /// The integers of a word plus 2^23 + 2^15.
  static QUARKSTAR_HD Complex<Lane> biased(std::uint32_t word) {
    constexpr std::uint32_t exponent = 0x4b000000u;  // of 2^23
#ifdef __CUDA_ARCH__
    return {{real(__byte_perm(word, exponent, 0x7410))}, {real(__byte_perm(word, exponent, 0x7432))}};
#else
    return {{real((word & 0xffffu) | exponent)}, {real((word >> 16) | exponent)}};
#endif
  }
  static QUARKSTAR_HD Complex<Lane> load_pair(const Half* p) { return from_word(p->word); }
  static QUARKSTAR_HD void store_pair(Half* p, const Complex<Lane>& z) {
#ifdef __CUDA_ARCH__
    p->word = __byte_perm(bits(z.re.v), bits(z.im.v), 0x5410);
#else
    p->word = (bits(z.re.v) & 0xffffu) | (bits(z.im.v) << 16);
#endif
  }

 private:
  static QUARKSTAR_HD std::uint32_t bits(T x) { return __builtin_bit_cast(std::uint32_t, x); }
  static QUARKSTAR_HD T real(std::uint32_t x) { return __builtin_bit_cast(T, x); }
};

}  // namespace quarkstar::site
