#pragma once
// Numbers of matrices stored in 16 bits.
#include "runtime/gpu/host_device.hpp"

#include <cstdint>

namespace quarkstar::coarse {

/// IEEE binary16: 11 bits, magnitudes from 6e-8 to 65504. Elements of coarse matrices are of order one, so there is no unit beside them.
struct Binary16 {
  std::uint16_t bits;
};

/// What is stored as M is computed with in this type.
template <class M>
struct StoredAs {
  using Computed = M;
};
template <>
struct StoredAs<Binary16> {
  using Computed = float;
};
template <class M>
using Computed = typename StoredAs<M>::Computed;

/// The same number, of a finite one. A product moves the exponent, with those below 2^-14 too: 4 instructions for a register of them.
QUARKSTAR_HD float widened(Binary16 x) {
#ifdef __CUDA_ARCH__
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
#else
  const auto with_sign = static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<std::int16_t>(x.bits)));
  return __builtin_bit_cast(float, (with_sign << 13) & 0x8fffe000u) * 0x1p112f;
#endif
}

/// Rounded to nearest, ties to even; infinity from 65520 on.
QUARKSTAR_HD Binary16 narrowed(float x) {
  constexpr std::uint32_t infinity = 0x7f800000u, too_large = 0x47800000u, smallest_normal = 0x38800000u, half = 0x3f000000u;
  const std::uint32_t word = __builtin_bit_cast(std::uint32_t, x), magnitude = word & 0x7fffffffu;
  std::uint32_t bits;
  if (magnitude >= too_large) bits = magnitude > infinity ? 0x7e00u : 0x7c00u;
  else if (magnitude < smallest_normal)  // the sum rounds where the last bit of 2^-24 is
    bits = __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, magnitude) + 0.5f) - half;
  else bits = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  return {static_cast<std::uint16_t>((word >> 16 & 0x8000u) | bits)};
}

}  // namespace quarkstar::coarse
