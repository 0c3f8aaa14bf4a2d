// The elementary functions that have the same bits everywhere, against the C library in long double, and the values
// that must be exact.
#include "codelets/lattice/portable.hpp"

#include "codelets/lattice/boundary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace portable_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 5;
constexpr int samples = 100000;

/// The distance from the exact result in units of its last place.
double ulps(double result, long double exact) {
  const int exponent = std::max(std::ilogb(exact), std::numeric_limits<double>::min_exponent - 1);
  return static_cast<double>(std::abs(result - exact) / std::ldexp(1.0L, exponent - 52));
}

class Uniform {
 public:
  double operator()(double low, double high) { return low + (high - low) * std::ldexp(static_cast<double>(engine_() >> 11), -53); }

 private:
  std::mt19937_64 engine_{seed};
};

}  // namespace

TEST_CASE("portable: the log agrees with the C library's") {
  MESSAGE("seed " << seed);
  Uniform uniform;
  double worst = 0;
  const auto compare = [&](double u) { worst = std::max(worst, ulps(portable::log(u), std::log(static_cast<long double>(u)))); };
  for (int n = 0; n < samples; ++n) {
    compare(uniform(0x1p-53, 1));
    compare(1 - uniform(0x1p-20, 1) * 0x1p-30);
    compare(std::exp2(-uniform(0, 1022)));
  }
  for (const double u : {0x1p-53, 0x1p-1022, 0.125, 0.25, 0.5, 0.75, 1 - 0x1p-53, std::numbers::sqrt2 / 2}) compare(u);
  MESSAGE("log: " << worst << " units in the last place");
  CHECK(worst < 3);
  CHECK(portable::log(1.0) == 0.0);
  CHECK(portable::log(0.5) == -std::numbers::ln2);
}

TEST_CASE("portable: sine and cosine agree with the C library's and are exact at quarter turns") {
  MESSAGE("seed " << seed);
  Uniform uniform;
  double worst = 0, worst_at_zero = 0;
  const auto compare = [&](double u) {
    const long double angle = 2 * std::numbers::pi_v<long double> * u;
    const auto [sine, cosine] = portable::sine_cosine_of_turns(u);
    worst =
        std::max({worst, static_cast<double>(std::abs(sine - std::sin(angle))), static_cast<double>(std::abs(cosine - std::cos(angle)))});
    if (std::abs(u) < 0.125) worst_at_zero = std::max(worst_at_zero, ulps(sine, std::sin(angle)));
  };
  for (int n = 0; n < samples; ++n) {
    compare(uniform(-1, 1));
    compare(uniform(-1, 1) * std::exp2(-uniform(0, 100)));
    compare(1 - uniform(0, 1) * 0x1p-30);
  }
  for (int eighth = -8; eighth <= 8; ++eighth)
    for (const double off : {-0x1p-50, 0.0, 0x1p-50}) compare(std::clamp(eighth / 8. + off, -1., 1.));
  MESSAGE("sine, cosine: " << worst << " at most; sine near 0: " << worst_at_zero << " units in the last place");
  CHECK(worst < 2.5e-16);
  CHECK(worst_at_zero < 4);
  for (int quarter = -4; quarter <= 4; ++quarter) {
    const auto [sine, cosine] = portable::sine_cosine_of_turns(quarter / 4.);
    const int q = quarter & 3;
    CHECK(sine == (q == 1 ? 1 : q == 3 ? -1 : 0));
    CHECK(cosine == (q == 0 ? 1 : q == 2 ? -1 : 0));
  }
}

TEST_CASE("portable: the argument agrees with the C library's in all directions and has its signs at zeros") {
  MESSAGE("seed " << seed);
  Uniform uniform;
  double worst = 0;
  const auto compare = [&](double y, double x) {
    const long double exact = std::atan2(static_cast<long double>(y), static_cast<long double>(x)) / std::numbers::pi_v<long double>;
    worst = std::max(worst, ulps(portable::argument_over_pi(y, x), exact));
  };
  const auto all_signs_and_axes = [&](double a, double b) {
    for (const double x : {a, -a})
      for (const double y : {b, -b}) {
        compare(y, x);
        compare(x, y);
      }
  };
  for (int n = 0; n < samples; ++n) {
    compare(uniform(-1, 1), uniform(-1, 1));
    all_signs_and_axes(uniform(0.5, 1), std::exp2(-uniform(0, 60)));
    all_signs_and_axes(std::exp2(uniform(-300, 300)), std::exp2(uniform(-300, 300)));
  }
  constexpr int steps = 100000;
  for (int k = 1; k <= steps; ++k) all_signs_and_axes(1, static_cast<double>(k) / steps);
  for (const double tangent : {std::numbers::sqrt2 - 1, 1.0, 0.5, 0x1p-1022, 0x1p-52})
    for (const double at : {std::nextafter(tangent, 0.0), tangent, std::nextafter(tangent, 2.0)}) all_signs_and_axes(1, at);
  all_signs_and_axes(std::numeric_limits<double>::max(), std::numeric_limits<double>::max() / 3);
  MESSAGE("argument: " << worst << " units in the last place");
  CHECK(worst < 4);
  for (const double x : {0.0, -0.0, 1.0, -1.0, 3e200, -3e-200})
    for (const double y : {0.0, -0.0}) {
      const double ours = portable::argument_over_pi(y, x), exact = std::atan2(y, x) / std::numbers::pi;
      CHECK(ours == exact);
      CHECK(std::signbit(ours) == std::signbit(exact));
    }
  for (const double y : {0.5, -7.0, 1e300}) {
    CHECK(portable::argument_over_pi(y, 0.0) == (y > 0 ? 0.5 : -0.5));
    CHECK(portable::argument_over_pi(y, -0.0) == (y > 0 ? 0.5 : -0.5));
  }
  CHECK(portable::argument_over_pi(1, 1) == 0.25);
  CHECK(portable::argument_over_pi(-1, -1) == -0.75);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(portable::argument_over_pi(nan, 1)));
  CHECK(std::isnan(portable::argument_over_pi(1, nan)));
}

TEST_CASE("portable: the modulus agrees with the C library's, from the smallest to the largest numbers") {
  MESSAGE("seed " << seed);
  Uniform uniform;
  double worst = 0;
  bool symmetric = true;
  const auto compare = [&](double x, double y) {
    const double result = portable::modulus(x, y);
    worst = std::max(worst, ulps(result, std::hypot(static_cast<long double>(x), static_cast<long double>(y))));
    symmetric = symmetric && portable::modulus(-y, x) == result;
  };
  for (int n = 0; n < samples; ++n) {
    compare(uniform(-1, 1), uniform(-1, 1));
    const double size = std::exp2(uniform(-1020, 1020));
    compare(size, size * uniform(-1, 1));
    compare(size, size * std::exp2(-uniform(0, 60)));
  }
  MESSAGE("modulus: " << worst << " units in the last place");
  CHECK(worst < 2);
  CHECK(symmetric);
  CHECK(portable::modulus(3, -4) == 5);
  CHECK(portable::modulus(0, 0) == 0);
  CHECK(portable::modulus(0, -0x1p-1000) == 0x1p-1000);
  CHECK(portable::modulus(0x1p1022, 0) == 0x1p1022);
  CHECK(std::isnan(portable::modulus(std::numeric_limits<double>::quiet_NaN(), 1)));
}

TEST_CASE("portable: boundary phases are exact at multiples of a quarter turn, and elsewhere the C library's") {
  MESSAGE("seed " << seed);
  using Phase = std::complex<double>;
  for (const double turns : {0.0, 2.0, -2.0, 1e15, -1e15}) {
    CHECK(boundary_phase(turns) == Phase(1, 0));
    CHECK(boundary_phase(turns + 0.5) == Phase(0, 1));
    CHECK(boundary_phase(turns + 1) == Phase(-1, 0));
    CHECK(boundary_phase(turns - 0.5) == Phase(0, -1));
  }
  CHECK(boundary_phase(1e300) == Phase(1, 0));
  Uniform uniform;
  double worst = 0;
  for (int n = 0; n < samples; ++n) {
    const double theta = uniform(-3, 3);
    worst = std::max(worst, std::abs(boundary_phase(theta) - std::polar(1.0, std::numbers::pi * theta)));
  }
  CHECK(worst < 3e-15);
}

}  // namespace portable_test
