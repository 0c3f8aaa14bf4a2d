#pragma once
// Pack<T, N>: N lanes of T in one vector register. Included by the file of one architecture, which says how wide its registers
// are and how it multiplies and adds in one step; everything else here is the compiler's generic vector arithmetic.
// Everything lives in a namespace named after the architecture, so that no two architectures share a function.
#include "codelets/field/number_format.hpp"
#include "codelets/su3/complex.hpp"
#include "runtime/gpu/host_device.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// x is in a register here, and the compiler must not know where it is from: it would make its load part of every instruction that reads
/// it, or keep -x, too. An architecture whose compiler does so has an overload for its registers; this one does nothing.
template <class Vector>
inline __attribute__((always_inline)) void hold_in_register(Vector&) {}

template <class T, int N>
struct Pack {
  typedef T Vector __attribute__((vector_size(N * sizeof(T))));
  using Number = T;
  static constexpr int lanes = N;
  Vector v;

  static QUARKSTAR_HD Pack load(const T* p) {
    Pack x;
    std::memcpy(&x.v, p, sizeof x.v);
    return x;
  }
  QUARKSTAR_HD void store(T* p) const { std::memcpy(p, &v, sizeof v); }
  /// Store that bypasses the cache; p aligned to the register. Where the architecture has none it is a plain store.
  QUARKSTAR_HD void stream(T* p) const { nontemporal_store(p, v); }
  static QUARKSTAR_HD Pack broadcast(T value) { return {value - Vector{}}; }

  friend QUARKSTAR_HD Pack operator+(Pack a, Pack b) { return {a.v + b.v}; }
  friend QUARKSTAR_HD Pack operator-(Pack a, Pack b) { return {a.v - b.v}; }
  friend QUARKSTAR_HD Pack operator*(Pack a, Pack b) { return {a.v * b.v}; }
  friend QUARKSTAR_HD Pack operator/(Pack a, Pack b) { return {a.v / b.v}; }
  friend QUARKSTAR_HD Pack operator-(Pack a) { return {-a.v}; }
  friend QUARKSTAR_HD Pack fma(Pack a, Pack b, Pack c) { return {fused_multiply_add(a.v, b.v, c.v)}; }    ///< a b + c
  friend QUARKSTAR_HD Pack fnma(Pack a, Pack b, Pack c) { return {fused_multiply_add(-a.v, b.v, c.v)}; }  ///< c - a b

  /// Square root, correctly rounded; 0 of negative numbers.
  friend QUARKSTAR_HD Pack root(Pack a) {
    Pack x{a.v > 0 ? a.v : Vector{}};
    for (int l = 0; l < N; ++l)
      x.v[l] = sizeof(T) == 4 ? static_cast<T>(__builtin_sqrtf(static_cast<float>(x.v[l])))
                              : static_cast<T>(__builtin_sqrt(static_cast<double>(x.v[l])));
    return x;
  }

  /// Of each lane the larger magnitude, as a non-negative number; NaN counts as larger than infinity. Single precision only.
  friend QUARKSTAR_HD Pack larger_magnitude(Pack a, Pack b) {
    const Words magnitude = as_words(a.v) & 0x7fffffffu, other = as_words(b.v) & 0x7fffffffu;
    return as_reals(magnitude > other ? magnitude : other);
  }
  /// 1 / x; 0 where x is less than the smallest normal number, or NaN. Single precision only.
  QUARKSTAR_HD Pack reciprocal_or_zero() const {
    constexpr T smallest = 1.17549435e-38f;
    const Vector inverse = broadcast(1).v / v;
    return {v >= smallest ? inverse : Vector{}};
  }
  /// 1 / x, rounded to nearest.
  QUARKSTAR_HD Pack reciprocal() const { return {broadcast(1).v / v}; }
  /// *this, with the other sign in the lanes where the last bit of `flag` is set.
  QUARKSTAR_HD Pack flip_sign_by_last_bit(Pack flag) const {
    using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    typedef Word Bits __attribute__((vector_size(N * sizeof(T))));
    return {(Vector)((Bits)v ^ ((Bits)flag.v << (8 * sizeof(T) - 1)))};
  }
  /// The integers of N stored pairs, and pairs from integers to which fixed_point_bias has been added (Half). Single precision only.
  static QUARKSTAR_HD site::Complex<Pack> load_pair(const Half* p) {
    Words words;
    std::memcpy(&words, p, sizeof words);
    constexpr std::uint32_t exponent = 0x4b000000u;  // of 2^23
    const Pack bias = broadcast(8421376.0f);
    return {as_reals((words & 0xffffu) | exponent) - bias, as_reals((words >> 16) | exponent) - bias};
  }
  static QUARKSTAR_HD void store_pair(Half* p, const site::Complex<Pack>& biased) {
    const Words words = (as_words(biased.re.v) & 0xffffu) | (as_words(biased.im.v) << 16);
    std::memcpy(p, &words, sizeof words);
  }

  /// Lane l of the result is lane l ^ Stride.
  template <int Stride>
  QUARKSTAR_HD Pack exchange() const {
    return exchange_lanes<Stride>(std::make_integer_sequence<int, N>{});
  }
  /// Lane l from `yes` where bit Stride of l is Bit, from *this elsewhere.
  template <int Stride, int Bit>
  QUARKSTAR_HD Pack select(const Pack& yes) const {
    return select_lanes<Stride, Bit>(yes, std::make_integer_sequence<int, N>{});
  }
  /// Stores the N/2 lanes whose bit Stride is Bit, in order.
  template <int Stride, int Bit>
  QUARKSTAR_HD void store_half(T* p) const {
    store_half_lanes<Stride, Bit>(p, std::make_integer_sequence<int, N / 2>{});
  }
  /// Inverse of store_half for both values of the bit: lane l receives p[l without its bit Stride].
  template <int Stride>
  static QUARKSTAR_HD Pack load_half(const T* p) {
    return load_half_lanes<Stride>(p, std::make_integer_sequence<int, N>{});
  }

 private:
  typedef std::uint32_t Words __attribute__((vector_size(N * 4)));
  static QUARKSTAR_HD Words as_words(const Vector& x) {
    static_assert(sizeof(T) == 4);
    return (Words)x;
  }
  static QUARKSTAR_HD Pack as_reals(const Words& words) {
    static_assert(sizeof(T) == 4);
    return {(Vector)words};
  }

  template <int Stride, int... L>
  QUARKSTAR_HD Pack exchange_lanes(std::integer_sequence<int, L...>) const {
    return {__builtin_shufflevector(v, v, (L ^ Stride)...)};
  }
  template <int Stride, int Bit, int... L>
  QUARKSTAR_HD Pack select_lanes(const Pack& yes, std::integer_sequence<int, L...>) const {
    return {__builtin_shufflevector(v, yes.v, (((L & Stride) != 0) == (Bit != 0) ? L + N : L)...)};
  }
  /// Position of half lane h among all lanes: a bit of value Bit inserted at Stride.
  static constexpr int widened(int h, int stride, int bit) {
    return (h & (stride - 1)) | ((h & ~(stride - 1)) << 1) | (bit != 0 ? stride : 0);
  }
  static constexpr int narrowed(int l, int stride) { return (l & (stride - 1)) | ((l >> 1) & ~(stride - 1)); }
  template <int Stride, int Bit, int... H>
  QUARKSTAR_HD void store_half_lanes(T* p, std::integer_sequence<int, H...>) const {
    // A shuffle of full width: g++ 12 gets some shuffles to half of 8 doubles wrong (it takes lanes 0, 1, 2, 3 for 0, 1, 4, 5).
    const Vector both = __builtin_shufflevector(v, v, widened(H, Stride, Bit)..., widened(H, Stride, Bit)...);
    std::memcpy(p, &both, sizeof(T) * N / 2);
  }
  template <int Stride, int... L>
  static QUARKSTAR_HD Pack load_half_lanes(const T* p, std::integer_sequence<int, L...>) {
    Vector half{};
    std::memcpy(&half, p, sizeof(T) * N / 2);
    return {__builtin_shufflevector(half, half, narrowed(L, Stride)...)};
  }
};

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
