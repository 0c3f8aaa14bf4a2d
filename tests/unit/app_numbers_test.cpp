// Numbers that the command computes itself: estimates, the free-field sum,
// block grids, checks.
#include "apps/run/free_field.hpp"
#include "apps/run/generate_run.hpp"
#include "apps/run/solve_plan.hpp"
#include "apps/run/statistics.hpp"
#include "apps/verify/verify.hpp"
#include "tests/reference/free_field.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>

#include <numbers>
#include <random>

namespace app_numbers_test {

using namespace quarkstar;
using namespace quarkstar::app;

TEST_CASE(
    "the error of independent values is sigma / sqrt(n); repeated values "
    "do not count twice") {
  const unsigned seed = std::random_device{}();
  INFO("seed ", seed);
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal(5, 2);
  std::vector<double> independent, repeated;
  for (int i = 0; i < 4096; ++i) {
    independent.push_back(normal(engine));
    for (int copy = 0; copy < 16; ++copy) repeated.push_back(independent.back());
  }
  const Estimate first = binned_estimate(independent), second = binned_estimate(repeated);
  CHECK(first.mean == doctest::Approx(second.mean));
  CHECK(first.error > 2 / 64.0 * 0.9);
  CHECK(first.error < 2 / 64.0 * 2.5);  // the largest of a few bin sizes, the coarsest of which scatter
  CHECK(second.error > 0.8 * first.error);
  CHECK(std::isnan(binned_estimate(std::vector<double>{1}).error));
  CHECK(binned_estimate(std::vector<double>{1, 1, 1}).error == 0);
}

TEST_CASE("estimates are printed with two digits of error") {
  CHECK(estimate_text(0.593714, 0.000123) == "0.59371(12)");
  CHECK(estimate_text(12.345, 1.2) == "12.3(12)");
  CHECK(estimate_text(0.5, 0) == "0.500000");
}

TEST_CASE("the free pion equals the reference's, twisted boundaries included") {
  const Coord extents{4, 2, 6, 8};
  for (const BoundaryAngles& angles : {antiperiodic_in_time, periodic, BoundaryAngles{0.25, 1, 0.5, 0.1}}) {
    std::array<double, 4> radians;
    for (std::size_t mu = 0; mu < 4; ++mu) radians[mu] = angles[mu] * std::numbers::pi;
    const std::vector<double> got = free_pion(extents, 0.11, angles);
    const std::vector<double> expected = reference::wilson_free_pion(extents, 0.11, reference::Boundary::twisted(radians));
    REQUIRE(got.size() == expected.size());
    for (std::size_t t = 0; t < got.size(); ++t) CHECK(got[t] == doctest::Approx(expected[t]).epsilon(1e-13));
  }
}

TEST_CASE("t is cut by the number of workers unless blocks are given") {
  CHECK(block_grid({0, 0, 0, 0}, {8, 8, 8, 16}, 3) == Coord{1, 1, 1, 3});
  CHECK(block_grid({0, 0, 0, 0}, {8, 8, 8, 4}, 16) == Coord{1, 1, 1, 2});
  CHECK(block_grid({0, 0, 0, 0}, {8, 8, 8, 8}, 16, 4) == Coord{1, 1, 1, 2});
  CHECK(block_grid({0, 0, 0, 0}, {8, 8, 8, 8}, 4, 3) == Coord{1, 1, 1, 2});
  CHECK(block_grid({1, 2, 2, 1}, {8, 8, 8, 4}, 16) == Coord{1, 2, 2, 1});
}

TEST_CASE("a check takes the worst value, and no number is the worst") {
  const Check good = compare("c", {1, 2, 4}, {1, 2 + 1e-6, 4}, 1e-5, true);
  CHECK(good.verdict == Check::Verdict::pass);
  CHECK(good.deviation == doctest::Approx(5e-7));
  CHECK(good.expected == 2);
  CHECK(compare("c", {1, 2}, {1, 3}, 0.9, false).verdict == Check::Verdict::fail);
  CHECK(compare("c", {1, 2}, {1}, 1, false).verdict == Check::Verdict::fail);
  CHECK(compare("c", {}, {}, 1, false).verdict == Check::Verdict::fail);
  CHECK(compare("c", {1, 2}, {std::nan(""), 2}, 1, false).verdict == Check::Verdict::fail);
  CHECK(compare("c", {0}, {0}, 1, false).verdict == Check::Verdict::pass);
}

}  // namespace app_numbers_test
