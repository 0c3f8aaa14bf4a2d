// Numbers in 16 bits against their definition: a sign, and a whole number of units in the last place.
#include "codelets/coarse/binary16.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace binary16_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 90127;

/// In the rounding mode of the processor, ties to even.
double nearest(double x) {
  if (x == 0) return x;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(x), -14) - 10);
  return std::nearbyint(x / unit) * unit;
}

}  // namespace

TEST_CASE("numbers in 16 bits are the nearest ones") {
  MESSAGE("seed " << seed);
  std::mt19937_64 random(seed);
  const auto check = [](float x) {
    INFO("of " << x);
    CHECK(coarse::widened(coarse::narrowed(x)) == nearest(x));
    CHECK(std::signbit(coarse::widened(coarse::narrowed(x))) == std::signbit(x));
  };
  for (int i = 0; i < 20000; ++i) {
    const double exponent = std::uniform_real_distribution<double>(-30, 15.99)(random);
    check(static_cast<float>((random() % 2 == 0 ? 1 : -1) * std::exp2(exponent)));
  }
  for (const float x : {0.0f, -0.0f, 1e-20f, 65504.0f, 65519.0f, 0x1p-24f, 0x1p-25f, 0x1.8p-25f}) check(x);
  // Every number, and the ties between it and the next.
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const float here = coarse::widened({bits}), next = coarse::widened({static_cast<std::uint16_t>(bits + 1)});
    CHECK(coarse::narrowed(here).bits == bits);
    CHECK(coarse::narrowed((here + next) / 2).bits == (bits % 2 == 0 ? bits : bits + 1));
  }
  CHECK(coarse::narrowed(65520.0f).bits == 0x7c00);
  CHECK(coarse::narrowed(-std::numeric_limits<float>::infinity()).bits == 0xfc00);
  CHECK(coarse::narrowed(std::numeric_limits<float>::quiet_NaN()).bits == 0x7e00);
}

}  // namespace binary16_test
