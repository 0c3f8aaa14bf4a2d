#pragma once
// Elementary functions from operations that IEEE 754 rounds in one way: the same bits on every processor, and on GPUs.
// The C library's are not: it picks versions by processor and release that differ in the last digit.
#include "runtime/gpu/host_device.hpp"

#include <bit>
#include <cstdint>
#include <numbers>

namespace quarkstar::portable {

/// log(u) of a normal number u in (0, 1]: u = 2^e m with m in [sqrt(1/2), sqrt(2)), log m = 2 atanh((m - 1)/(m + 1)).
/// Error below 3 units in the last place (seen: 1.9, test `unit.portable`). 30 flop.
QUARKSTAR_HD double log(double u) {
  const auto bits = std::bit_cast<std::uint64_t>(u);
  constexpr auto root_half = std::bit_cast<std::uint64_t>(std::numbers::sqrt2 / 2);
  // Distance to sqrt(1/2) in the bit pattern: its exponent field is e, its mantissa leads from sqrt(1/2) to m.
  const auto distance = static_cast<std::int64_t>(bits - root_half);
  const std::int64_t exponent = distance >> 52;
  const double m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(exponent) << 52));
  const double s = (m - 1.0) / (m + 1.0), square = s * s;
  constexpr double inverse[] = {1. / 19, 1. / 17, 1. / 15, 1. / 13, 1. / 11, 1. / 9, 1. / 7, 1. / 5, 1. / 3};
  double series = 1. / 21;  // |s| < 0.172: the next term is below 1e-18
  for (const double coefficient : inverse) series = series * square + coefficient;
  return static_cast<double>(exponent) * std::numbers::ln2 + 2.0 * (s + s * square * series);
}

struct SineCosine {
  double sine, cosine;
};

/// sin(2 pi u) and cos(2 pi u) for |u| <= 1: nearest quarter turn (exact), then Taylor series on [-pi/4, pi/4]. Error
/// below 2.5e-16; exact at quarter turns. 40 flop.
QUARKSTAR_HD SineCosine sine_cosine_of_turns(double u) {
  const int quarter = static_cast<int>(4.0 * u + (u < 0 ? -0.5 : 0.5));
  const double x = (4.0 * u - quarter) * (std::numbers::pi / 2), square = x * x;
  double sine = 1.0, cosine = 1.0;
  for (int n = 16; n >= 2; n -= 2) {
    sine = 1.0 - square * (1.0 / (n * (n + 1))) * sine;
    cosine = 1.0 - square * (1.0 / (n * (n - 1))) * cosine;
  }
  sine *= x;
  switch (quarter & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

/// arg(x + i y) / pi, from -1 to 1, with atan2's signs at zeros; x and y finite. With q = min(|x|, |y|) / max(|x|,
/// |y|), atan q comes from the Taylor series of atan r, r = q up to tan(pi/8), r = (q - 1) / (q + 1) and atan q = pi/4
/// + atan r above. Error below 4 units in the last place (seen: 2.2). 50 flop.
QUARKSTAR_HD double argument_over_pi(double y, double x) {
  constexpr double tangent_of_eighth = std::numbers::sqrt2 - 1;
  const double size_x = __builtin_fabs(x), size_y = __builtin_fabs(y);
  const bool steep = size_y > size_x;
  const double larger = steep ? size_y : size_x, smaller = steep ? size_x : size_y;
  const double q = larger == 0 ? 0 : smaller / larger;
  const bool beyond = q > tangent_of_eighth;
  const double r = beyond ? (q - 1) / (q + 1) : q, minus_square = -(r * r);
  constexpr double inverse[] = {1. / 39, 1. / 37, 1. / 35, 1. / 33, 1. / 31, 1. / 29, 1. / 27, 1. / 25, 1. / 23, 1. / 21,
                                1. / 19, 1. / 17, 1. / 15, 1. / 13, 1. / 11, 1. / 9,  1. / 7,  1. / 5,  1. / 3};
  double series = 1. / 41;  // r^2 < 0.172: the next term is below 2e-18
  for (const double coefficient : inverse) series = series * minus_square + coefficient;
  double angle = (r + r * minus_square * series) * std::numbers::inv_pi;
  if (beyond) angle = 0.25 + angle;
  if (steep) angle = 0.5 - angle;
  if (__builtin_copysign(1.0, x) < 0) angle = 1 - angle;
  return __builtin_copysign(angle, y);
}

/// |x + i y| without overflow or underflow on the way; x and y finite. Error below 2 units in the last place
/// (seen: 1.2). 8 flop.
QUARKSTAR_HD double modulus(double x, double y) {
  const double size_x = __builtin_fabs(x), size_y = __builtin_fabs(y);
  const double larger = size_x > size_y ? size_x : size_y, smaller = size_x > size_y ? size_y : size_x;
  // Powers of two: they change no digit.
  const double scale = larger > 0x1p500 ? 0x1p-600 : larger < 0x1p-500 ? 0x1p600 : 1;
  const double a = larger * scale, b = smaller * scale;
  return __builtin_sqrt(a * a + b * b) / scale;
}

}  // namespace quarkstar::portable
