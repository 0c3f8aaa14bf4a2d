#include "tests/reference/correlator.hpp"
#include "tests/reference/free_field.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/wilson.hpp"

#include <doctest/doctest.h>

namespace reference_free_correlator_test {

using namespace quarkstar;
using namespace quarkstar::reference;
using reference::Field;
using reference::Propagator;

namespace {

const Coord extents{4, 4, 4, 8};
constexpr double kappa = 0.12;

// docs/conventions.md, section 11: t = 0..4; C(8 - t) = C(t).
struct Pinned {
  Boundary boundary;
  std::array<double, 5> pion;
};
const std::array<Pinned, 2> pinned{
    Pinned{Boundary::antiperiodic_t(), {14.390997238335325, 1.195789163128004, 0.556763335147175, 0.444389305141630, 0.419424218593000}},
    Pinned{Boundary::periodic(), {17.724243454974850, 2.611118374457587, 1.716801739632373, 1.460574662091269, 1.389152014535650}}};

}  // namespace

TEST_CASE("reference: free pion, momentum sum and solver agree with the pinned values") {
  const HostGauge gauge = unit_gauge(extents);
  for (const Pinned& known : pinned) {
    const Operator m = [&](const Field& psi) { return wilson(gauge, kappa, psi, known.boundary); };
    const Operator m_dagger = [&](const Field& psi) { return wilson_dagger(gauge, kappa, psi, known.boundary); };
    const std::vector<double> formula = wilson_free_pion(extents, kappa, known.boundary);
    const std::vector<double> solved = pion(point_propagator(m, m_dagger, extents, 4, {0, 0, 0, 0}, 1e-14));
    for (int t = 0; t < extents[3]; ++t) {
      CAPTURE(t);
      const double expected = known.pion[std::min(t, extents[3] - t)];
      CHECK(std::abs(formula[t] / expected - 1.0) < 1e-12);
      CHECK(std::abs(solved[t] / expected - 1.0) < 1e-12);
    }
  }
}

TEST_CASE("reference: correlators see neither the gauge nor the spin basis") {
  const std::uint64_t seed = 31;
  CAPTURE(seed);
  const Coord small{2, 2, 2, 4};
  const HostGauge gauge = near_unit_gauge(small, seed, 0.2);
  const HostGauge rotated = transform(gauge, random_transform(small, seed + 1));
  const auto correlators = [&](const HostGauge& links, Basis basis) {
    const Operator m = [&](const Field& psi) { return wilson(links, kappa, psi, {}, basis); };
    const Operator m_dagger = [&](const Field& psi) { return wilson_dagger(links, kappa, psi, {}, basis); };
    const Propagator propagator = point_propagator(m, m_dagger, small, 4, {0, 0, 0, 0}, 1e-14);
    return std::array{pion(propagator), rho(propagator, 0, basis), rho(propagator, 1, basis), rho(propagator, 2, basis)};
  };
  const auto expected = correlators(gauge, Basis::degrand_rossi);
  const auto gauge_rotated = correlators(rotated, Basis::degrand_rossi);
  const auto spin_rotated = correlators(gauge, Basis::dirac_pauli);
  for (std::size_t channel = 0; channel < expected.size(); ++channel) {
    for (int t = 0; t < small[3]; ++t) {
      CAPTURE(channel);
      CAPTURE(t);
      CHECK(std::abs(gauge_rotated[channel][t] - expected[channel][t]) < 1e-12);
      CHECK(std::abs(spin_rotated[channel][t] - expected[channel][t]) < 1e-12);
    }
  }
}

}  // namespace reference_free_correlator_test
