#pragma once
// Random numbers that belong to a lattice site: the same for any cut, number of threads, and machine.
#include "codelets/lattice/portable.hpp"
#include "runtime/gpu/host_device.hpp"

#include <Random123/philox.h>

#include <array>
#include <cmath>
#include <cstdint>

namespace quarkstar {

/// What numbers are drawn for. Streams of different purposes share no number; a new use is a new line.
enum class RandomPurpose : std::uint64_t { heatbath = 1, hot_start = 2, noise_source = 3, null_vectors = 4 };

/// The stream of numbers of one (seed, purpose, site, index): Philox4x64-10 with key (seed, purpose) and counter
/// (site, index, n, 0) for its n-th group of four. Nothing is stored or shared, so any thread on any machine can make
/// any part of it. About 8 ns for a group. Source: Salmon et al., SC'11 (Random123).
class RandomStream {
 public:
  /// site: lexicographic in the whole lattice. index: told apart by the caller, e.g. sweep, direction and subgroup in
  /// one.
  QUARKSTAR_HD RandomStream(std::uint64_t seed, RandomPurpose purpose, std::int64_t site, std::uint64_t index)
      : key_{{seed, static_cast<std::uint64_t>(purpose)}}, counter_{{static_cast<std::uint64_t>(site), index, 0, 0}} {}

  /// The next four words of 64 random bits.
  QUARKSTAR_HD std::array<std::uint64_t, 4> words() {
    const auto group = r123::Philox4x64()(counter_, key_);
    ++counter_[2];
    return {group[0], group[1], group[2], group[3]};
  }

  /// The next four numbers uniform in (0, 1): odd multiples of 2^-53, so neither end occurs and 1 - u is exact.
  QUARKSTAR_HD std::array<double, 4> uniforms() {
    const auto group = words();
    return {uniform_of(group[0]), uniform_of(group[1]), uniform_of(group[2]), uniform_of(group[3])};
  }

  /// The next two pairs of independent normal numbers, mean 0 and variance 1 (Box-Muller).
  QUARKSTAR_HD std::array<double, 4> gaussians() {
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
  static QUARKSTAR_HD double uniform_of(std::uint64_t word) { return (static_cast<double>(word >> 12) + 0.5) * 0x1p-52; }

  r123::Philox4x64::key_type key_;
  r123::Philox4x64::ctr_type counter_;
};

}  // namespace quarkstar
