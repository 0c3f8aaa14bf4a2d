#include "tests/reference/free_field.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/staggered.hpp"

#include <Eigen/Dense>
#include <doctest/doctest.h>

namespace reference_staggered_test {

using namespace quarkstar;
using namespace quarkstar::reference;

namespace {

constexpr std::uint64_t seed = 51;
const Coord extents{4, 4, 6, 4};

/// Eigenvalues of -D^2, ascending.
Eigen::VectorXd normal_spectrum(const StaggeredLinks& links) {
  const Coord& size = links.fat.extents;
  const Eigen::Index n = static_cast<Eigen::Index>(3 * volume(size));
  Eigen::MatrixXcd matrix(n, n);
  for (Eigen::Index col = 0; col < n; ++col) {
    Field unit(size, 1);
    unit.data[col] = 1.0;
    const Field image = staggered_normal(links, 0.0, unit);
    for (Eigen::Index row = 0; row < n; ++row) matrix(row, col) = image.data[row];
  }
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXcd>(matrix, Eigen::EigenvaluesOnly).eigenvalues();
}

}  // namespace

TEST_CASE("reference staggered: phases anticommute, (eta_mu(x) eta_nu(x+mu) + mu<->nu = 0)") {
  for (std::int64_t site = 0; site < volume(extents); ++site) {
    const Coord x = coordinates(site, extents);
    for (int mu = 0; mu < 4; ++mu)
      for (int nu = 0; nu < mu; ++nu)
        CHECK(staggered_phase(x, mu) * staggered_phase(step(x, mu, 1, extents), nu) +
                  staggered_phase(x, nu) * staggered_phase(step(x, nu, 1, extents), mu) ==
              0.0);
  }
}

TEST_CASE("reference staggered: smearing weights obey their sum rules") {
  const auto sum = [](const SmearingCoefficients& c) {
    return c.one_link + 6 * c.three_staple + 24 * c.five_staple + 48 * c.seven_staple + 6 * c.lepage;
  };
  CHECK(sum(fat7_coefficients()) == doctest::Approx(1.0).epsilon(1e-15));
  CHECK(sum(hisq_level2_coefficients(0.0)) == doctest::Approx(9.0 / 8.0).epsilon(1e-15));
  CHECK(sum(asqtad_coefficients(1.0)) == doctest::Approx(9.0 / 8.0).epsilon(1e-15));
  const HostGauge unit = unit_gauge({2, 2, 2, 2});
  const StaggeredLinks hisq = hisq_links(unit, -0.1);
  CHECK(link_trace(hisq.fat) == doctest::Approx(9.0 / 8.0 - 0.1 / 8.0).epsilon(1e-14));
  CHECK(link_trace(hisq.naik) == doctest::Approx(-0.9 / 24.0).epsilon(1e-14));
}

TEST_CASE("reference staggered: HISQ epsilon is small, negative and starts with -27/40 (am)^2") {
  CHECK(hisq_epsilon(0.0) == 0.0);
  CHECK(hisq_epsilon(1e-4) / (-27.0 / 40.0 * 1e-8) == doctest::Approx(1.0).epsilon(1e-7));
  CHECK(hisq_epsilon(0.5) < 0.0);
}

TEST_CASE("reference staggered: unitarize gives the unitary polar factor") {
  CAPTURE(seed);
  const HostGauge smeared = smear(near_unit_gauge({2, 2, 2, 2}, seed, 0.4), fat7_coefficients());
  const HostGauge unitary = unitarize(smeared);
  for (std::int64_t site = 0; site < volume(smeared.extents); ++site) {
    for (int mu = 0; mu < 4; ++mu) {
      const Matrix<3> w = link(unitary, site, mu);
      const Matrix<3> positive = adjoint(w) * link(smeared, site, mu);
      CHECK(max_difference(w * adjoint(w), Matrix<3>::identity()) < 1e-14);
      // V = W P with P hermitian and positive (for a smooth field it is close to 1).
      CHECK(max_difference(positive, adjoint(positive)) < 1e-14);
      CHECK(trace(positive).real() > 0.0);
      CHECK(determinant(positive).real() > 0.0);
    }
  }
}

TEST_CASE("reference staggered: D is antihermitian and gauge covariant, for all three actions") {
  CAPTURE(seed);
  const HostGauge gauge = with_boundary(near_unit_gauge(extents, seed, 0.3), Boundary::antiperiodic_t());
  const auto g = random_transform(extents, seed + 1);
  const HostGauge rotated = transform(gauge, g);
  const Field chi = random_field(extents, 1, seed + 2);
  const Field phi = random_field(extents, 1, seed + 3);
  const std::array<StaggeredLinks, 3> actions{naive_links(gauge), asqtad_links(gauge, 0.85), hisq_links(gauge, -0.05)};
  const std::array<StaggeredLinks, 3> rotated_actions{naive_links(rotated), asqtad_links(rotated, 0.85), hisq_links(rotated, -0.05)};
  for (std::size_t i = 0; i < actions.size(); ++i) {
    CAPTURE(i);
    const Complex sum = inner(phi, staggered_dslash(actions[i], chi)) + inner(staggered_dslash(actions[i], phi), chi);
    CHECK(std::abs(sum) < 1e-13 * std::sqrt(norm2(phi) * norm2(chi)));
    const Field after = transform(staggered_dslash(actions[i], chi), g);
    const Field before = staggered_dslash(rotated_actions[i], transform(chi, g));
    CHECK(max_difference(after, before) < 1e-12);
    // One hop and three hops change the parity.
    const Field even_part = restrict_to_parity(chi, 0);
    CHECK(norm2(restrict_to_parity(staggered_dslash(actions[i], even_part), 0)) == 0.0);
  }
}

TEST_CASE("reference staggered: free spectra on 4^4 and 8^4 have the known lowest eigenvalues") {
  CHECK(staggered_free_spectrum({4, 4, 4, 4}, 1.0, 0.0).front() == doctest::Approx(2.0).epsilon(1e-14));
  CHECK(staggered_free_spectrum({4, 4, 4, 4}, 9.0 / 8.0, -1.0 / 24.0).front() == doctest::Approx(2.347222222222222).epsilon(1e-14));
  CHECK(staggered_free_spectrum({8, 8, 8, 8}, 9.0 / 8.0, -1.0 / 24.0).front() == doctest::Approx(0.61473089275).epsilon(1e-11));
}

TEST_CASE("reference staggered: all 768 eigenvalues of -D^2 on 4^4, unit links and a pure gauge") {
  CAPTURE(seed);
  const Coord size{4, 4, 4, 4};
  const HostGauge unit = with_boundary(unit_gauge(size), Boundary::antiperiodic_t());
  const HostGauge pure_gauge = transform(unit, random_transform(size, seed));
  const double epsilon = -0.1;
  struct Case {
    StaggeredLinks links;
    double c1, c3;
  };
  for (const Case& item :
       {Case{naive_links(pure_gauge), 1.0, 0.0}, Case{hisq_links(unit, epsilon), 9.0 / 8.0 + epsilon / 8.0, -(1.0 + epsilon) / 24.0}}) {
    const Eigen::VectorXd spectrum = normal_spectrum(item.links);
    const std::vector<double> expected = staggered_free_spectrum(size, item.c1, item.c3);
    REQUIRE(static_cast<std::size_t>(spectrum.size()) == expected.size());
    double largest = 0.0;
    for (Eigen::Index i = 0; i < spectrum.size(); ++i) largest = std::max(largest, std::abs(spectrum[i] - expected[i]));
    CHECK(largest < 1e-12);
  }
}

}  // namespace reference_staggered_test
