#pragma once
// What a face holds of a neighbour's half spinor: the only place that knows how.
#include "codelets/field/number_format.hpp"
#include "codelets/spin/spin.hpp"
#include "codelets/stencil/face_format.hpp"

#include <cstdint>

namespace quarkstar::wilson {

inline constexpr FaceFormat face_format{12, false};

/// Words of a site, lane and vector, each as large as a Real<F>: the 12 numbers. In half precision these are integers, sums of two of 16
/// bits, and one unit. Such an integer plus 65536 has 17 bits: [unit][bit 16 + n: the upper one of number n][pairs of the lower ones].
template <class F>
inline constexpr int face_words = static_cast<int>(face_format.bytes(NumberFormat<F>::precision) / sizeof(Real<F>));

/// In half precision, words in front of the pairs.
inline constexpr int face_head = 2;

namespace detail {
static_assert(face_words<Half> == face_head + 6);

/// 2^23 + 2^16, and the bits of 2^23: an integer of 17 bits and the first make a float that has it + 2^16 in the lower 17 of its bits.
inline constexpr float face_bias = 8454144.0f;
inline constexpr std::uint32_t face_exponent = 0x4b000000u, lower_bits = 0xffffu, upper_bit = 0x10000u;
}  // namespace detail

/// words = of a half spinor, in half precision of its integers and of the unit that multiplies them. Words: the bits of a V, an unsigned
/// integer of 32 bits for each lane.
template <class F, class Words, class V>
QUARKSTAR_HD void write_face_words(V (&words)[face_words<F>], const site::HalfSpinor<V>& h, [[maybe_unused]] V unit) {
  if constexpr (is_half<F>) {
    const V bias = V::broadcast(detail::face_bias);
    Words upper{};
    site::unroll<6>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      const auto re = __builtin_bit_cast(Words, h[c / 3][c % 3].re + bias), im = __builtin_bit_cast(Words, h[c / 3][c % 3].im + bias);
      words[face_head + c] = __builtin_bit_cast(V, (re & detail::lower_bits) | (im << 16));
      upper |= ((re & detail::upper_bit) << 2 * c) | ((im & detail::upper_bit) << (2 * c + 1));
    });
    words[0] = unit;
    words[1] = __builtin_bit_cast(V, upper);
  } else {
    site::unroll<6>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      words[2 * c] = h[c / 3][c % 3].re;
      words[2 * c + 1] = h[c / 3][c % 3].im;
    });
  }
}

/// Component C of a half spinor, (spin, colour) = (C / 3, C % 3), of half precision, from the words in front of the pairs and its pair: the
/// bits that the sender would have multiplied.
template <int C, class Words, class V>
QUARKSTAR_HD site::Complex<V> read_face_pair(const V (&head)[face_head], V pair) {
  const auto upper = __builtin_bit_cast(Words, head[1]), lower = __builtin_bit_cast(Words, pair);
  const V bias = V::broadcast(detail::face_bias);
  const Words re = detail::face_exponent | (lower & detail::lower_bits) | ((upper >> 2 * C) & detail::upper_bit);
  const Words im = detail::face_exponent | (lower >> 16) | ((upper >> (2 * C + 1)) & detail::upper_bit);
  return {(__builtin_bit_cast(V, re) - bias) * head[0], (__builtin_bit_cast(V, im) - bias) * head[0]};
}

}  // namespace quarkstar::wilson
