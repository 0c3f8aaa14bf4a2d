#include "tests/reference/free_field.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/wilson.hpp"

#include <doctest/doctest.h>

#include <numbers>

namespace reference_wilson_test {

using namespace quarkstar;
using namespace quarkstar::reference;

namespace {

const Coord extents{4, 2, 6, 4};
const Boundary twisted = Boundary::twisted({0.3, -1.1, 0.0, std::numbers::pi / 3});

}  // namespace

TEST_CASE("reference Wilson: gamma5-hermiticity, and the written-out dagger is the adjoint") {
  const std::uint64_t seed = 21;
  CAPTURE(seed);
  const HostGauge gauge = random_gauge(extents, seed);
  const Field psi = random_field(extents, 4, seed + 1);
  const Field phi = random_field(extents, 4, seed + 2);
  for (const Basis basis : {Basis::degrand_rossi, Basis::dirac_pauli}) {
    for (const Boundary& boundary : {Boundary::periodic(), Boundary::antiperiodic_t(), twisted}) {
      const Matrix<4> g5 = gamma5(basis);
      const Field left = apply_spin(g5, wilson(gauge, 0.13, apply_spin(g5, psi), boundary, basis));
      CHECK(max_difference(left, wilson_dagger(gauge, 0.13, psi, boundary, basis)) < 1e-13);
      const Complex difference = inner(phi, hop(gauge, psi, boundary, basis)) - inner(hop_dagger(gauge, phi, boundary, basis), psi);
      CHECK(std::abs(difference) < 1e-13 * std::sqrt(norm2(phi) * norm2(psi)));
    }
  }
}

TEST_CASE("reference Wilson: D commutes with gauge transformations") {
  const std::uint64_t seed = 22;
  CAPTURE(seed);
  const HostGauge gauge = random_gauge(extents, seed);
  const Field psi = random_field(extents, 4, seed + 1);
  const auto g = random_transform(extents, seed + 2);
  const Field rotated_after = transform(wilson(gauge, 0.13, psi), g);
  const Field rotated_before = wilson(transform(gauge, g), 0.13, transform(psi, g));
  CHECK(max_difference(rotated_after, rotated_before) < 1e-13);
}

TEST_CASE("reference Wilson: the two gamma bases are related by T") {
  const std::uint64_t seed = 23;
  CAPTURE(seed);
  const HostGauge gauge = random_gauge(extents, seed);
  const Field psi = random_field(extents, 4, seed + 1);
  const Matrix<4> t = dirac_pauli_to_degrand_rossi();
  const Field rotated_after = apply_spin(t, hop(gauge, psi, {}, Basis::dirac_pauli));
  const Field rotated_before = hop(gauge, apply_spin(t, psi), {}, Basis::degrand_rossi);
  CHECK(max_difference(rotated_after, rotated_before) < 1e-13);
}

TEST_CASE("reference Wilson: a boundary phase is the same as a phase on the last links") {
  const std::uint64_t seed = 24;
  CAPTURE(seed);
  const HostGauge gauge = random_gauge(extents, seed);
  const Field psi = random_field(extents, 4, seed + 1);
  CHECK(max_difference(hop(gauge, psi, twisted), hop(with_boundary(gauge, twisted), psi, Boundary::periodic())) < 1e-13);
}

TEST_CASE("reference Wilson: the hop connects opposite parities and its two halves add up") {
  const std::uint64_t seed = 25;
  CAPTURE(seed);
  const HostGauge gauge = random_gauge(extents, seed);
  const Field psi = random_field(extents, 4, seed + 1);
  const Field even_part = restrict_to_parity(psi, 0);
  const Field odd_part = restrict_to_parity(psi, 1);
  CHECK(norm2(hop_parity(gauge, even_part, 0)) == 0.0);
  CHECK(norm2(hop_parity(gauge, odd_part, 1)) == 0.0);
  CHECK(max_difference(hop(gauge, psi), hop_parity(gauge, odd_part, 0) + hop_parity(gauge, even_part, 1)) == 0.0);
  CHECK(max_difference(hop_dagger(gauge, psi), hop_dagger_parity(gauge, psi, 0) + hop_dagger_parity(gauge, psi, 1)) == 0.0);
}

TEST_CASE("reference Wilson: tiling a periodic problem tiles its result") {
  const std::uint64_t seed = 26;
  CAPTURE(seed);
  const HostGauge gauge = random_gauge({2, 3, 2, 4}, seed);
  const Field psi = random_field(gauge.extents, 4, seed + 1);
  const Coord repeats{2, 1, 2, 1};
  const Field tiled_after = tile(hop(gauge, psi, Boundary::periodic()), repeats);
  CHECK(max_difference(hop(tile(gauge, repeats), tile(psi, repeats), Boundary::periodic()), tiled_after) == 0.0);
}

TEST_CASE("reference Wilson: on unit links a plane wave is multiplied by the symbol D(p)") {
  const double kappa = 0.12;
  const HostGauge gauge = unit_gauge(extents);
  const Vector<4> spin{Complex{1.0, 0.5}, Complex{-0.3, 0.2}, Complex{0.7, -1.0}, Complex{0.1, 0.4}};
  for (const Basis basis : {Basis::degrand_rossi, Basis::dirac_pauli}) {
    for (const Boundary& boundary : {Boundary::periodic(), Boundary::antiperiodic_t(), twisted}) {
      const Momentum p = momentum({1, 1, 2, 3}, extents, boundary);
      const Vector<4> image = wilson_symbol(kappa, p, basis) * spin;
      Field wave(extents, 4);
      Field expected(extents, 4);
      for (std::int64_t site = 0; site < wave.sites(); ++site) {
        const Coord x = coordinates(site, extents);
        const Complex phase = std::polar(1.0, p[0] * x[0] + p[1] * x[1] + p[2] * x[2] + p[3] * x[3]);
        for (int s = 0; s < 4; ++s) {
          wave(site, s, 1) = phase * spin[s];
          expected(site, s, 1) = phase * image[s];
        }
      }
      CHECK(max_difference(wilson(gauge, kappa, wave, boundary, basis), expected) < 1e-14);
      const Matrix<4> product = wilson_symbol(kappa, p, basis) * wilson_free_propagator(kappa, p, basis);
      CHECK(max_difference(product, Matrix<4>::identity()) < 1e-14);
    }
  }
}

}  // namespace reference_wilson_test
