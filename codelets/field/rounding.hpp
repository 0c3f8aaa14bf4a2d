#pragma once
// Vectors as whole numbers of 24 bits.
#include "runtime/gpu/host_device.hpp"
#include "runtime/graph/binned_sum.hpp"

#include <cstdint>

namespace quarkstar::blas {

/// Magnitudes of rounded numbers at most: three signed digits of 8 bits that are all 127.
inline constexpr std::int32_t most_rounded = 0x7f7f7f;

/// The least e with sum <= (2^e most_rounded / 2^23)^Power, of a normal positive number.
template <int Power>
QUARKSTAR_HD int exponent_of_root(double sum) {
  std::uint64_t bits;
  __builtin_memcpy(&bits, &sum, sizeof bits);
  constexpr double spare = Power == 2 ? 0.99 : 0.96;      // less than (most_rounded / 2^23)^Power
  const int above = static_cast<int>(bits >> 52) - 1022;  // sum < 2^above
  const int e = above >= 0 ? (above + Power - 1) / Power : -(-above / Power);
  const std::uint64_t limit_bits = static_cast<std::uint64_t>(1023 + Power * e) << 52;
  double limit;
  __builtin_memcpy(&limit, &limit_bits, sizeof limit);
  return sum <= spare * limit ? e : e + 1;
}

/// The scale 2^s of a vector x, from |x|^2 and sum_k |x_k|^8, k over its complex numbers: the products of its reals with 2^s, rounded to
/// nearest, are at most most_rounded. The eighth root of the second sum is at least the largest |x_k|, and of a smooth vector of n numbers
/// at most n^(1/8) times it: rounded numbers leave 2^-20 of such a vector, of others that have a few large numbers 2^-23 of these. Where
/// that sum leaves the range of a double (numbers below 1e-31 or above 1e37) the norm takes its place. 1 for vectors that are zero, NaN for
/// those that are no numbers, or whose norm is none. Exact sums make the scale a property of the vector alone.
QUARKSTAR_HD double scale_of_rounding(double norm2, double sum8) {
  constexpr double least8 = 1e-250, most8 = 1e300, least2 = 1e-290;
  if (!(norm2 <= 1.7976931348623157e308)) return norm2 - norm2;  // NaN
  int e = 0;
  if (sum8 >= least8 && sum8 <= most8) e = exponent_of_root<8>(sum8);
  else if (norm2 >= least2) e = exponent_of_root<2>(norm2);
  else return 1;
  const std::uint64_t bits = static_cast<std::uint64_t>(1023 + 23 - e) << 52;
  double scale;
  __builtin_memcpy(&scale, &bits, sizeof scale);
  return scale;
}

/// Adds a whole number, exactly. All summands of such a sum are whole numbers.
QUARKSTAR_HD void add_whole(runtime::BinnedSum& sum, std::int64_t x) {
  constexpr int window = 2;  // whose last limb counts ones
  sum.raise(window);
  sum.limb[1] += x >> 32;
  sum.limb[2] += x & 0xffffffff;
}

}  // namespace quarkstar::blas
