#pragma once
// Number formats of stored fields: what an element of the array is, and how many of them a site or a link takes per lane.
#include "codelets/field/precision.hpp"

#include <cstdint>
#include <type_traits>

namespace quarkstar {

/// 16-bit fixed point, two numbers per word: re in the low half, im in the high one, each an integer q in -32767..32767 stored as
/// q + 32768 (then a mask and a float's exponent turn it into the float 2^23 + 2^15 + q, without a conversion instruction).
/// The value is q times a unit: a site of a spinor field begins with its own, max |component| / 32767; a gauge link's is 1 / 32767,
/// those of staggered links are common to the lattice (codelets/su3/long_link.hpp).
struct Half {
  std::uint32_t word;
};

/// Format F: Real is what is computed with; words of type F per lane.
template <class F>
struct NumberFormat {
  using Real = F;
  static constexpr Precision precision = sizeof(F) == 8 ? Precision::double_ : Precision::single;
  static constexpr int site_words(int reals) { return reals; }
  static constexpr int link_words(int reals) { return reals; }
};

template <>
struct NumberFormat<Half> {
  using Real = float;
  static constexpr Precision precision = Precision::half;
  static constexpr int site_words(int reals) { return 1 + reals / 2; }
  static constexpr int link_words(int reals) { return (reals + 1) / 2; }
};

template <class F>
using Real = typename NumberFormat<F>::Real;
/// Words of a spinor.
template <class F>
inline constexpr int spinor_words = NumberFormat<F>::site_words(24);
/// body(std::type_identity<F>) with the format F of a precision.
template <class Body>
decltype(auto) with_format(Precision precision, Body&& body) {
  if (precision == Precision::half) return body(std::type_identity<Half>{});
  if (precision == Precision::single) return body(std::type_identity<float>{});
  return body(std::type_identity<double>{});
}

template <class F>
inline constexpr bool is_half = NumberFormat<F>::precision == Precision::half;

}  // namespace quarkstar
