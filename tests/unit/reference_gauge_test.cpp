#include "tests/reference/gauge.hpp"

#include <doctest/doctest.h>

namespace reference_gauge_test {

using namespace quarkstar;
using namespace quarkstar::reference;

TEST_CASE("reference: unit gauge has plaquette and link trace 1") {
  const HostGauge gauge = unit_gauge({2, 3, 4, 5});
  CHECK(plaquettes(gauge).spatial == 1.0);
  CHECK(plaquettes(gauge).temporal == 1.0);
  CHECK(link_trace(gauge) == 1.0);
  CHECK(unitarity_deviation(gauge) == 0.0);
}

TEST_CASE("reference: random links are SU(3), differ by seed and repeat with it") {
  const std::uint64_t seed = 11;
  CAPTURE(seed);
  const Coord extents{4, 2, 3, 4};
  const HostGauge gauge = random_gauge(extents, seed);
  CHECK(unitarity_deviation(gauge) < 1e-14);
  CHECK(random_gauge(extents, seed).data == gauge.data);
  CHECK(random_gauge(extents, seed + 1).data != gauge.data);
  CHECK(std::abs(plaquettes(gauge).spatial) < 0.1);
}

TEST_CASE("reference: reunitarize restores SU(3) and leaves SU(3) alone") {
  const std::uint64_t seed = 12;
  CAPTURE(seed);
  const HostGauge gauge = random_gauge({2, 2, 2, 4}, seed);
  HostGauge rounded = gauge;
  for (double& value : rounded.data) value = static_cast<float>(value);
  CHECK(unitarity_deviation(rounded) > 1e-9);
  reunitarize(rounded);
  CHECK(unitarity_deviation(rounded) < 1e-15);
  for (std::size_t i = 0; i < gauge.data.size(); ++i) CHECK(std::abs(rounded.data[i] - gauge.data[i]) < 1e-6);
}

TEST_CASE("reference: plaquette is gauge invariant, link trace is not") {
  const std::uint64_t seed = 13;
  CAPTURE(seed);
  const Coord extents{4, 2, 3, 4};
  const HostGauge gauge = near_unit_gauge(extents, seed, 0.3);
  const HostGauge rotated = transform(gauge, random_transform(extents, seed + 1));
  CHECK(std::abs(plaquettes(rotated).spatial - plaquettes(gauge).spatial) < 1e-14);
  CHECK(std::abs(plaquettes(rotated).temporal - plaquettes(gauge).temporal) < 1e-14);
  CHECK(std::abs(link_trace(rotated) - link_trace(gauge)) > 0.1);
}

TEST_CASE("reference: tiling and boundary phases leave the plaquettes unchanged") {
  const std::uint64_t seed = 14;
  CAPTURE(seed);
  const HostGauge gauge = random_gauge({2, 3, 2, 4}, seed);
  const HostGauge tiled = tile(gauge, {2, 1, 3, 2});
  CHECK(tiled.extents == Coord{4, 3, 6, 8});
  CHECK(plaquettes(tiled).spatial == doctest::Approx(plaquettes(gauge).spatial).epsilon(1e-13));
  CHECK(plaquettes(tiled).temporal == doctest::Approx(plaquettes(gauge).temporal).epsilon(1e-13));
  CHECK(link_trace(tiled) == doctest::Approx(link_trace(gauge)).epsilon(1e-13));
  // A constant phase per direction on one slice cancels in every plaquette.
  const HostGauge folded = with_boundary(gauge, Boundary::antiperiodic_t());
  CHECK(plaquettes(folded).temporal == doctest::Approx(plaquettes(gauge).temporal).epsilon(1e-13));
}

}  // namespace reference_gauge_test
