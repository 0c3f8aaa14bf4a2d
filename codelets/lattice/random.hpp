#pragma once
// Random numbers that belong to a lattice site: the same for any cut, number of threads, and machine.
#include <Random123/philox.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace quarkstar {

/// What numbers are drawn for. Streams of different purposes share no number; a new use is a new line.
enum class RandomPurpose : std::uint64_t { heatbath = 1, hot_start = 2, noise_source = 3 };

/// log, sine and cosine from IEEE-exact operations only. The C library picks its versions by processor and release,
/// which differ in the last bit; these give the same bits wherever contraction is off. Errors stay below 2 units in the
/// last place.
namespace portable {

/// log(u) of a normal number u in (0, 1]: u = 2^e m with m in [sqrt(1/2), sqrt(2)), log m = 2 atanh((m - 1)/(m + 1)).
inline double log(double u) {
  const auto bits = std::bit_cast<std::uint64_t>(u);
  constexpr auto root_half = std::bit_cast<std::uint64_t>(std::numbers::sqrt2 / 2);
  // Distance to sqrt(1/2) in the bit pattern: its exponent field is e, its mantissa leads from sqrt(1/2) to m.
  const auto distance = static_cast<std::int64_t>(bits - root_half);
  const std::int64_t exponent = distance >> 52;
  const double m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(exponent) << 52));
  const double s = (m - 1.0) / (m + 1.0), square = s * s;
  double series = 1.0 / 21;  // |s| < 0.172: the next term is below 1e-18
  for (const double coefficient :
       {1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3})
    series = series * square + coefficient;
  return static_cast<double>(exponent) * std::numbers::ln2 + 2.0 * (s + s * square * series);
}

struct SineCosine {
  double sine, cosine;
};

/// sin(2 pi u) and cos(2 pi u) for 0 <= u <= 1: nearest quarter turn (exact), then Taylor series on [-pi/4, pi/4].
inline SineCosine sine_cosine_of_turns(double u) {
  const int quarter = static_cast<int>(4.0 * u + 0.5);
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

}  // namespace portable

/// The stream of numbers of one (seed, purpose, site, index): Philox4x64-10 with key (seed, purpose) and counter
/// (site, index, n, 0) for its n-th group of four. Nothing is stored or shared, so any thread on any machine can make
/// any part of it. About 8 ns for a group. Source: Salmon et al., SC'11 (Random123).
class RandomStream {
 public:
  /// site: lexicographic in the whole lattice. index: told apart by the caller, e.g. sweep, direction and subgroup in
  /// one.
  RandomStream(std::uint64_t seed, RandomPurpose purpose, std::int64_t site, std::uint64_t index)
      : key_{{seed, static_cast<std::uint64_t>(purpose)}}, counter_{{static_cast<std::uint64_t>(site), index, 0, 0}} {}

  /// The next four words of 64 random bits.
  std::array<std::uint64_t, 4> words() {
    const auto group = r123::Philox4x64()(counter_, key_);
    ++counter_[2];
    return {group[0], group[1], group[2], group[3]};
  }

  /// The next four numbers uniform in (0, 1): odd multiples of 2^-53, so neither end occurs and 1 - u is exact.
  std::array<double, 4> uniforms() {
    const auto group = words();
    return {uniform_of(group[0]), uniform_of(group[1]), uniform_of(group[2]), uniform_of(group[3])};
  }

  /// The next two pairs of independent normal numbers, mean 0 and variance 1 (Box-Muller).
  std::array<double, 4> gaussians() {
    const auto u = uniforms();
    std::array<double, 4> result;
    for (int pair = 0; pair < 2; ++pair) {
      const double radius = std::sqrt(-2.0 * portable::log(u[2 * pair]));
      const auto [sine, cosine] = portable::sine_cosine_of_turns(u[2 * pair + 1]);
      result[2 * pair] = radius * cosine;
      result[2 * pair + 1] = radius * sine;
    }
    return result;
  }

 private:
  static double uniform_of(std::uint64_t word) { return (static_cast<double>(word >> 12) + 0.5) * 0x1p-52; }

  r123::Philox4x64::key_type key_;
  r123::Philox4x64::ctr_type counter_;
};

}  // namespace quarkstar
