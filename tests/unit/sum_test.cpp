// BinnedSum: the same bits in any order and any tree of merges, and the accuracy that it promises.
#include "runtime/graph/binned_sum.hpp"
#include "runtime/graph/sum_capacity.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

namespace sum_test {

using namespace quarkstar::runtime;
using quarkstar::runtime_testing::same_sum;

namespace {

constexpr std::uint64_t seed = 19840101;
using Engine = std::mt19937_64;

/// Sum of doubles without any rounding: 2^-1152 times an integer in signed digits of base 2^32.
class ExactSum {
 public:
  void add(double x) {
    int exponent;
    const double fraction = std::frexp(std::abs(x), &exponent);
    const int position = exponent - 53 + offset;
    auto shifted = static_cast<unsigned __int128>(std::ldexp(fraction, 53)) << (position % 32);
    for (int k = position / 32; shifted != 0; ++k, shifted >>= 32)
      digits_[static_cast<std::size_t>(k)] += static_cast<std::int64_t>(shifted & 0xffffffff) * (x < 0 ? -1 : 1);
  }

  /// Rounded to the 64 bits of a long double.
  long double value() const {
    std::array<std::int64_t, count> digits = digits_;
    carry(digits);
    const bool negative = digits.back() < 0;
    if (negative) {
      for (std::int64_t& digit : digits) digit = -digit;
      carry(digits);
    }
    long double sum = 0;
    for (int k = count - 1; k >= 0; --k) sum += std::ldexp(static_cast<long double>(digits[static_cast<std::size_t>(k)]), 32 * k - offset);
    return negative ? -sum : sum;
  }

 private:
  static constexpr int count = 72, offset = 36 * 32;

  /// All digits but the last into [0, 2^32).
  static void carry(std::array<std::int64_t, count>& digits) {
    for (std::size_t k = 0; k + 1 < count; ++k) {
      digits[k + 1] += digits[k] >> 32;
      digits[k] &= 0xffffffff;
    }
  }
  std::array<std::int64_t, count> digits_{};
};

BinnedSum sum_of(std::span<const double> summands) {
  BinnedSum sum = BinnedSum::zero();
  for (const double x : summands) add(sum, x);
  return sum;
}

/// Cut at random places, each part summed alone, the parts merged pairwise in random order.
BinnedSum random_tree(std::span<const double> summands, Engine& engine) {
  std::vector<BinnedSum> parts;
  while (!summands.empty()) {
    const std::size_t size = 1 + engine() % summands.size();
    parts.push_back(sum_of(summands.first(size)));
    summands = summands.subspan(size);
    if (engine() % 4 == 0) parts.push_back(BinnedSum::zero());
  }
  while (parts.size() > 1) {
    const std::size_t a = engine() % parts.size();
    std::swap(parts[a], parts.back());
    const BinnedSum taken = parts.back();
    parts.pop_back();
    parts[engine() % parts.size()].merge(taken);
  }
  return parts.empty() ? BinnedSum::zero() : parts.front();
}

std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }

void check_order_independent(std::vector<double> summands, Engine& engine) {
  const BinnedSum expected = sum_of(summands);
  for (int round = 0; round < 6; ++round) {
    std::shuffle(summands.begin(), summands.end(), engine);
    CHECK(same_sum(sum_of(summands), expected));
    CHECK(same_sum(random_tree(summands, engine), expected));
  }
  std::sort(summands.begin(), summands.end());
  CHECK(same_sum(sum_of(summands), expected));
  std::sort(summands.begin(), summands.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  CHECK(same_sum(sum_of(summands), expected));
  std::reverse(summands.begin(), summands.end());
  CHECK(same_sum(sum_of(summands), expected));
}

/// |value - exact| <= n u + ulp/2, u = 2^-64 of the largest summand, but no finer than 2^-1057.
void check_accurate(std::span<const double> summands) {
  ExactSum exact;
  double largest = 0;
  for (const double x : summands) {
    exact.add(x);
    largest = std::max(largest, std::abs(x));
  }
  const double sum = value_of(sum_of(summands));
  const long double reference = exact.value();
  const long double each = std::max(std::ldexp(static_cast<long double>(largest), -64), std::ldexp(1.0L, -1057));
  const long double bound = each * static_cast<long double>(summands.size()) + std::ldexp(std::abs(reference), -52) / 2;
  CHECK(std::abs(static_cast<long double>(sum) - reference) <= bound * (1 + 0x1p-40L));
}

double uniform(Engine& engine) { return static_cast<double>(engine() >> 11) * 0x1p-53; }
double sign(Engine& engine) { return engine() % 2 == 0 ? 1 : -1; }

/// Any sign, any exponent of [lowest, highest].
double of_exponent(Engine& engine, int lowest, int highest) {
  const int exponent = lowest + static_cast<int>(engine() % static_cast<std::uint64_t>(highest - lowest + 1));
  return std::ldexp(sign(engine) * (1 + uniform(engine)), exponent);
}

std::vector<double> drawn(Engine& engine, std::size_t size, int lowest, int highest) {
  std::vector<double> summands(size);
  for (double& x : summands) x = of_exponent(engine, lowest, highest);
  return summands;
}

}  // namespace

TEST_CASE("exact sum of the test itself") {
  ExactSum sum;
  CHECK(sum.value() == 0.0L);
  for (const double x : {0x1p900, -1.5, 0x1p-1074, -0x1p900, 0x1.8p40, -0x1p-1074}) sum.add(x);
  CHECK(sum.value() == 0x1.8p40L - 1.5L);
  sum.add(-0x1p41);
  CHECK(sum.value() == -0x1p39L - 1.5L);
}

TEST_CASE("binned sum of few numbers") {
  const auto value = [](std::vector<double> summands) { return value_of(sum_of(summands)); };
  CHECK(bits_of(value({})) == bits_of(0.0));
  CHECK(bits_of(value({0.0, -0.0, 0.0})) == bits_of(0.0));
  CHECK(value({0.1}) == 0.1);
  CHECK(value({0.1, 0.2}) == 0.1 + 0.2);
  CHECK(value({0x1p53, 1.0, 1.0}) == 0x1p53 + 2);
  CHECK(value({1.0, 0x1p-60, -1.0}) == 0x1p-60);
  CHECK(value({3.0, -3.0}) == 0.0);
  CHECK(value({0x1p1023, -0x1p1023, 0x1p960}) == 0x1p960);
  // Beyond the range of a double on the way, within it at the end.
  CHECK(value({0x1p1023, 0x1p1023, -0x1p1023}) == 0x1p1023);
  CHECK(value({0x1p1023, 0x1p1023}) == std::numeric_limits<double>::infinity());
}

TEST_CASE("a summand in the upper half of its limb does not depend on when the window moves") {
  // 0x1.8p31 is more than half of the limb above: rounding it there must give what dropping it later gives.
  const double forward[] = {0x1.8p31, 0x1p43, 0x1p96}, backward[] = {0x1p96, 0x1p43, 0x1.8p31};
  CHECK(bits_of(value_of(sum_of(forward))) == bits_of(value_of(sum_of(backward))));
  for (int window = -30; window <= 27; ++window)
    for (const double x : {0x1.8p31, 0x1p31, -0x1.fffffffffffffp31, 0x1.fffffffffffffp30}) {
      const double unit = std::ldexp(1.0, 32 * window);
      const double up[] = {x * unit, 0x1p96 * unit}, down[] = {0x1p96 * unit, x * unit};
      INFO(window << " " << x);
      CHECK(bits_of(value_of(sum_of(up))) == bits_of(value_of(sum_of(down))));
    }
}

TEST_CASE("one summand comes back to the bit") {
  INFO("seed " << seed);
  Engine engine(seed);
  // Down to 2^-1056, the last digit of the lowest window; what lies below is rounded to it.
  for (int i = 0; i < 20000; ++i) {
    const double x = of_exponent(engine, -1000, 1023);
    INFO(i << ": " << x);
    CHECK(bits_of(value_of(sum_of({&x, 1}))) == bits_of(x));
  }
  for (const double x : {0x1p-1022, -0x1p-1056, 0x1.8p-1055}) CHECK(bits_of(value_of(sum_of({&x, 1}))) == bits_of(x));
  const double smallest = 0x1p-1074;
  CHECK(value_of(sum_of({&smallest, 1})) == 0.0);
}

TEST_CASE("no order and no tree of merges changes a sum") {
  INFO("seed " << seed);
  Engine engine(seed);
  for (int round = 0; round < 60; ++round) {
    INFO("round " << round);
    const std::size_t size = 1 + engine() % 200;
    check_order_independent(drawn(engine, size, -4, 4), engine);
    check_order_independent(drawn(engine, size, -60, 60), engine);
    check_order_independent(drawn(engine, size, -1074, -1000), engine);
    check_order_independent(drawn(engine, size, -1000, 1000), engine);
  }
}

TEST_CASE("no order changes a sum that cancels") {
  INFO("seed " << seed);
  Engine engine(seed);
  for (int round = 0; round < 60; ++round) {
    INFO("round " << round);
    std::vector<double> summands = drawn(engine, 40, -60, 60);
    const std::size_t half = summands.size();
    for (std::size_t i = 0; i < half; ++i) summands.push_back(-summands[i]);
    CHECK(bits_of(value_of(sum_of(summands))) == bits_of(0.0));
    check_order_independent(summands, engine);
    summands.push_back(of_exponent(engine, -60, -50));
    check_order_independent(summands, engine);
    check_accurate(summands);
  }
}

TEST_CASE("no order changes a sum at the boundaries of windows") {
  INFO("seed " << seed);
  Engine engine(seed);
  for (int k = -32; k <= 31; ++k) {
    INFO("2^" << 32 * k);
    std::vector<double> summands;
    for (const int shift : {-96, -64, -33, -32, -1, 0, 1, 31, 32}) {
      const int exponent = 32 * k + shift;
      if (exponent < -1074 || exponent > 1020) continue;
      for (const double factor : {1.0, 1 + 0x1p-52, 1 - 0x1p-53, 1.5, 0.75})
        for (int copy = 0; copy < 3; ++copy) summands.push_back(std::ldexp(sign(engine) * factor, exponent));
    }
    check_order_independent(summands, engine);
    check_accurate(summands);
    for (std::size_t i = summands.size(); i-- > 0;)
      if (std::abs(summands[i]) >= std::ldexp(1.0, 32 * k - 2)) summands.push_back(-summands[i]);
    check_order_independent(summands, engine);
    check_accurate(summands);
  }
}

TEST_CASE("no order changes a sum at the ends of the range") {
  constexpr double largest = std::numeric_limits<double>::max();
  Engine engine(seed);
  check_order_independent({largest, -largest, 0x1p960, 0x1.8p928, largest, -largest, 0x1p927}, engine);
  check_order_independent({0x1p-1074, 0x1p-1057, -0x1p-1056, 0x1.8p-1057, 0x1p-1022, 0x1p-961, -0x1p-929}, engine);
  CHECK(value_of(sum_of(std::vector<double>{largest, largest, -largest})) == largest);
}

TEST_CASE("binned sums are as accurate as they promise") {
  INFO("seed " << seed);
  Engine engine(seed);
  for (int round = 0; round < 200; ++round) {
    INFO("round " << round);
    const std::size_t size = 1 + engine() % 300;
    check_accurate(drawn(engine, size, -3, 3));
    check_accurate(drawn(engine, size, -40, 40));
    check_accurate(drawn(engine, size, -1000, 1000));
    check_accurate(drawn(engine, size, -1074, -990));
    check_accurate(drawn(engine, size, 1000, 1014));
  }
}

TEST_CASE("NaN and infinity poison a sum in any order") {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  Engine engine(seed);
  for (const double bad : {nan, -nan, infinity, -infinity}) {
    std::vector<double> summands = drawn(engine, 30, -500, 500);
    summands.push_back(bad);
    for (int round = 0; round < 10; ++round) {
      std::shuffle(summands.begin(), summands.end(), engine);
      CHECK(std::isnan(value_of(sum_of(summands))));
      CHECK(std::isnan(value_of(random_tree(summands, engine))));
    }
    CHECK(std::isnan(value_of(sum_of({&bad, 1}))));
  }
  const std::vector<double> both{infinity, -infinity};
  CHECK(std::isnan(value_of(sum_of(both))));
}

TEST_CASE("sums of threads merge to the sum over all") {
  Engine engine(seed);
  for (const int threads : {1, 2, 7}) {
    ThreadSums sums(threads);
    std::array<std::vector<double>, 3> all;
    for (int i = 0; i < 500; ++i)
      for (int s = 0; s < 3; ++s) {
        const double x = of_exponent(engine, -30, 30);
        all[static_cast<std::size_t>(s)].push_back(x);
        add(sums.of(static_cast<int>(engine() % static_cast<std::uint64_t>(threads)))[s], x);
      }
    BinnedSum merged[3];
    sums.merge_into(merged, 3);
    for (std::size_t s = 0; s < 3; ++s) CHECK(same_sum(merged[s], sum_of(all[s])));
  }
}

namespace {

/// count copies of x, merged by halves.
BinnedSum copies(double x, std::int64_t count) {
  if (count == 1) return sum_of({&x, 1});
  BinnedSum sum = copies(x, count / 2);
  sum.merge(sum);
  if (count % 2 != 0) add(sum, x);
  return sum;
}

}  // namespace

TEST_CASE("as many summands as fit, with the largest digits that there are") {
  // Sizes up to 2^31 in the window: all three digits at their largest, in turn.
  for (const int window : {-31, -3, 0, 7, 30})
    for (const double y : {0x1.fffffffffffffp30, 0x1.fffffffcp30, 0x1p30, 0x1.00000001p0, 0x1.8p0})
      for (const double x : {std::ldexp(y, 32 * window), std::ldexp(-y, 32 * window)}) {
        INFO(x);
        const BinnedSum sum = copies(x, most_summands);
        CHECK(value_of(sum) == x * static_cast<double>(most_summands));  // the factors are exact, so the product is rounded once
        BinnedSum cancelled = sum;
        cancelled.merge(copies(-x, most_summands));
        CHECK(bits_of(value_of(cancelled)) == bits_of(0.0));
      }
  // First a large summand, then small ones, whose digits lie in the lower limbs.
  BinnedSum mixed = copies(0x1.fffffffffffffp30, most_summands - 1);
  add(mixed, 0x1p40);
  CHECK(value_of(mixed) == std::fma(0x1.fffffffffffffp30, static_cast<double>(most_summands - 1), 0x1p40));
}

}  // namespace sum_test
