// Links of 8 reals come back from every format within the stated bound, wherever in SU(3) they lie.
#include "codelets/arch/lane.hpp"
#include "codelets/field/write_link.hpp"
#include "codelets/su3/link.hpp"
#include "tests/reference/gauge.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace site_compact_link_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 911;

/// Largest difference of a component after a link has been stored as `reals` numbers of format F.
template <class F, int Reals>
double deviation(const double* link) {
  F stored[18];
  transfer::write_link(stored, link, Reals, 1);
  site::Link<site::Lane<Real<F>>> u;
  site::load_link<F, Reals, site::PlainLoads>(u, stored, 1);
  const double unit = is_half<F> ? static_cast<double>(site::link_unit) : 1;
  double largest = 0;
  for (int i = 0; i < 9; ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(u[i / 3][i % 3].re.v) * unit - link[2 * i]));
    largest = std::max(largest, std::abs(static_cast<double>(u[i / 3][i % 3].im.v) * unit - link[2 * i + 1]));
  }
  return largest;
}

/// 8 reals: the bound of docs/conventions.md. A second projection, because one leaves rows orthogonal to some roundings only, and no
/// parameters of SU(3) can give back what is beside it.
void check(HostGauge gauge, double (&worst)[3]) {
  reference::reunitarize(gauge);
  for (std::int64_t i = 0; i < volume(gauge.extents); ++i)
    for (int mu = 0; mu < 4; ++mu) {
      const double* link = gauge.link(i, mu).data();
      worst[0] = std::max(worst[0], deviation<double, 8>(link) * 0x1p52);
      worst[1] = std::max(worst[1], deviation<float, 8>(link) * 0x1p23);
      worst[2] = std::max(worst[2], deviation<Half, 8>(link) * static_cast<double>(site::fixed_point_most));
    }
  CHECK(worst[0] <= 8);
  CHECK(worst[1] <= 8);
  CHECK(worst[2] <= 5);
}

}  // namespace

TEST_CASE("links of 8 reals: random links and links near the unit matrix") {
  MESSAGE("seed " << seed);
  double worst[3] = {};
  check(reference::random_gauge({12, 12, 12, 12}, seed), worst);
  for (double roughness = 1; roughness > 1e-18; roughness /= 10)
    check(reference::near_unit_gauge({6, 6, 6, 6}, seed + 1, roughness), worst);
  MESSAGE("largest deviation: " << worst[0] << " x 2^-52 in double, " << worst[1] << " x 2^-23 in single, " << worst[2]
                                << " / 32767 in half");
}

TEST_CASE("links of 8 reals: permutations, phases and their neighbourhoods") {
  MESSAGE("seed " << seed);
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  const int permutations[][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  std::vector<reference::Matrix<3>> links;
  for (const auto& permutation : permutations)
    for (int phase0 = 0; phase0 < 8; ++phase0)
      for (int phase1 = 0; phase1 < 8; ++phase1)
        for (const double away : {0.0, 1e-17, 1e-12, 1e-8, 1e-4, 1e-2}) {
          reference::Matrix<3> m{};
          for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) m(i, j) = away * reference::Complex(normal(generator), normal(generator));
          const double angles[] = {M_PI / 4 * phase0, M_PI / 4 * phase1, 0};
          for (int i = 0; i < 3; ++i) m(i, permutation[i]) += std::polar(1.0, angles[i]);
          links.push_back(reference::reunitarize(m));
        }
  HostGauge gauge = reference::unit_gauge({2, 2, 2, static_cast<int>(links.size() / 32)});
  for (std::size_t i = 0; i < links.size(); ++i)
    reference::set_link(gauge, static_cast<std::int64_t>(i / 4), static_cast<int>(i % 4), links[i]);
  double worst[3] = {};
  check(gauge, worst);
  MESSAGE("largest deviation: " << worst[0] << " x 2^-52 in double, " << worst[1] << " x 2^-23 in single, " << worst[2]
                                << " / 32767 in half");
}

TEST_CASE("links of 8 reals: the unit matrix is exact") {
  const HostGauge gauge = reference::unit_gauge({2, 2, 2, 2});
  const double* link = gauge.link(0, 0).data();
  CHECK(deviation<double, 8>(link) == 0);
  CHECK(deviation<float, 8>(link) == 0);
  CHECK(deviation<Half, 8>(link) <= 1.0 / 32767);
}

}  // namespace site_compact_link_test
