// Naive, asqtad and HISQ links against the reference, for any cut, and what symmetry demands of them.
#include "codelets/arch/dispatch.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/smear_testing.hpp"

#include <doctest/doctest.h>

namespace smear_links_test {

using namespace quarkstar;
using namespace quarkstar::smear;
using smear_testing::largest_difference;
using smear_testing::options;
using smear_testing::whole;
using smear_testing::with_phases;

namespace {

constexpr std::uint64_t seed = 20261121;
constexpr BoundaryAngles twisted{0.25, 0, 1, 0.5};

void compare(const StaggeredLinks& ours, const reference::StaggeredLinks& expected, double tolerance) {
  CHECK(largest_difference(ours.fat, with_phases(expected.fat)) < tolerance);
  REQUIRE(ours.has_long);
  CHECK(largest_difference(ours.long_links, with_phases(expected.naik)) < tolerance);
}

bool same_bits(const StaggeredLinks& a, const StaggeredLinks& b) {
  return a.fat.data == b.fat.data && a.long_links.data == b.long_links.data;
}

}  // namespace

TEST_CASE("smear: naive, asqtad and HISQ links are the reference's") {
  MESSAGE("seed " << seed);
  const runtime::Session session(options(1));
  for (const Coord& lattice : {Coord{4, 4, 4, 4}, Coord{6, 2, 4, 8}, Coord{10, 2, 2, 4}}) {
    CAPTURE(lattice);
    for (const BoundaryAngles& angles : {antiperiodic_in_time, twisted}) {
      const HostGauge gauge = reference::random_gauge(lattice, seed);
      const HostGauge folded = reference::with_boundary(gauge, smear_testing::boundary_of(angles));
      const StaggeredLinks naive = naive_links(whole(lattice), gauge, angles);
      CHECK(largest_difference(naive.fat, with_phases(folded)) < 1e-15);
      CHECK_FALSE(naive.has_long);
      CHECK(naive.long_links.data.empty());
      compare(asqtad_links(whole(lattice), gauge, angles, 0.84), reference::asqtad_links(folded, 0.84), 1e-13);
      // Random links smear to nearly singular V: the unitary factor amplifies rounding.
      compare(hisq_links(whole(lattice), gauge, angles, -0.1), reference::hisq_links(folded, -0.1), 1e-10);
      const HostGauge smooth = reference::near_unit_gauge(lattice, seed, 0.3);
      compare(hisq_links(whole(lattice), smooth, angles, 0.02),
              reference::hisq_links(reference::with_boundary(smooth, smear_testing::boundary_of(angles)), 0.02), 1e-13);
    }
  }
}

TEST_CASE("smear: unit links stay unit links, with the sum rules of the weights") {
  const runtime::Session session(options(1));
  const Coord lattice{4, 4, 4, 4};
  const HostGauge unit = reference::unit_gauge(lattice);
  const auto scaled = [&](double factor) {
    HostGauge links = with_phases(unit);
    for (double& real : links.data) real *= factor;
    return links;
  };
  const StaggeredLinks asqtad = asqtad_links(whole(lattice), unit, periodic, 1);
  CHECK(largest_difference(asqtad.fat, scaled(9.0 / 8)) < 1e-15);
  CHECK(largest_difference(asqtad.long_links, scaled(-1.0 / 24)) < 1e-15);
  for (const double epsilon : {0.0, -0.3}) {
    const StaggeredLinks hisq = hisq_links(whole(lattice), unit, periodic, epsilon);
    CHECK(largest_difference(hisq.fat, scaled(9.0 / 8 + epsilon / 8)) < 1e-14);
    CHECK(largest_difference(hisq.long_links, scaled(-(1 + epsilon) / 24)) < 1e-15);
    CHECK(hisq.long_scale == doctest::Approx(-(1 + epsilon) / 24));
    CHECK(hisq.naik_epsilon == epsilon);
  }
}

TEST_CASE("smear: the same bits for every cut, number of workers and threads, and policy") {
  MESSAGE("seed " << seed);
  const Coord lattice{8, 4, 6, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.5);
  StaggeredLinks hisq, asqtad;
  {
    const runtime::Session session(options(1));
    hisq = hisq_links(whole(lattice), gauge, twisted, 0.05);
    asqtad = asqtad_links(whole(lattice), gauge, twisted, 0.9);
  }
  struct Run {
    int workers, threads;
    const char* policy;
  };
  for (const Run& run : {Run{1, 2, "static"}, Run{2, 1, "static"}, Run{2, 1, "eager"}}) {
    const runtime::Session session(options(run.workers, run.threads, run.policy));
    for (const Coord& grid : {Coord{1, 1, 1, 2}, Coord{2, 1, 1, 1}, Coord{1, 2, 3, 1}, Coord{2, 2, 2, 2}, Coord{4, 2, 3, 4}}) {
      CAPTURE(run.workers);
      CAPTURE(run.threads);
      CAPTURE(run.policy);
      CAPTURE(grid);
      const runtime::Decomposition decomposition(lattice, grid, run.workers);
      CHECK(same_bits(hisq_links(decomposition, gauge, twisted, 0.05), hisq));
      CHECK(same_bits(asqtad_links(decomposition, gauge, twisted, 0.9), asqtad));
    }
    const runtime::Decomposition unequal(lattice, {{{2, 6}, {4}, {6}, {3, 5}}}, {0, run.workers - 1, 0, run.workers - 1});
    CHECK(same_bits(hisq_links(unequal, gauge, twisted, 0.05), hisq));
  }
}

TEST_CASE("smear: every architecture of this machine gives the same bits") {
  const Coord lattice{10, 4, 4, 4};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.5);
  const runtime::Session session(options(1));
  const arch::Architecture chosen = arch::current();
  const StaggeredLinks expected = hisq_links(whole(lattice), gauge, antiperiodic_in_time, 0);
  for (const arch::Architecture architecture : arch::available()) {
    CAPTURE(arch::name_of(architecture));
    arch::force(architecture);
    CHECK(same_bits(hisq_links(whole(lattice), gauge, antiperiodic_in_time, 0), expected));
  }
  arch::force(chosen);
}

TEST_CASE("smear: several epsilons from one set of reunitarized links are those made alone") {
  const Coord lattice{4, 4, 4, 8};
  const HostGauge gauge = reference::random_gauge(lattice, seed);
  const runtime::Session session(options(1));
  const HisqLinks together(whole(lattice), gauge, antiperiodic_in_time);
  for (const double epsilon : {0.0, -0.1, 0.3})
    CHECK(same_bits(together.links(epsilon), hisq_links(whole(lattice), gauge, antiperiodic_in_time, epsilon)));
}

TEST_CASE("smear: links of a gauge-transformed configuration are the transformed links") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 6, 2, 8};
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  const auto g = reference::random_transform(lattice, seed + 1);
  const HostGauge transformed = reference::transform(gauge, g);
  const runtime::Session session(options(1));
  const StaggeredLinks before = hisq_links(whole(lattice), gauge, antiperiodic_in_time, 0.1);
  const StaggeredLinks after = hisq_links(whole(lattice), transformed, antiperiodic_in_time, 0.1);
  const auto check = [&](const HostGauge& links, const HostGauge& links_after, int hops) {
    double largest = 0;
    for (std::int64_t site = 0; site < volume(lattice); ++site)
      for (int mu = 0; mu < 4; ++mu) {
        const std::int64_t end = lexicographic(reference::step(coordinates(site, lattice), mu, hops, lattice), lattice);
        const auto expected =
            g[static_cast<std::size_t>(site)] * reference::link(links, site, mu) * reference::adjoint(g[static_cast<std::size_t>(end)]);
        largest = std::max(largest, reference::max_difference(expected, reference::link(links_after, site, mu)));
      }
    CHECK(largest < 1e-13);
  };
  check(before.fat, after.fat, 1);
  check(before.long_links, after.long_links, 3);
}

TEST_CASE("smear: long links are their scale times unitary matrices") {
  const Coord lattice{4, 4, 4, 4};
  const runtime::Session session(options(1));
  const HostGauge gauge = reference::random_gauge(lattice, seed);
  for (const StaggeredLinks& links :
       {hisq_links(whole(lattice), gauge, antiperiodic_in_time, 0.2), asqtad_links(whole(lattice), gauge, antiperiodic_in_time, 0.8)}) {
    double largest = 0;
    for (std::int64_t site = 0; site < volume(lattice); ++site)
      for (int mu = 0; mu < 4; ++mu) {
        const auto n = reference::Complex{1 / links.long_scale} * reference::link(links.long_links, site, mu);
        largest = std::max(largest, reference::max_difference(n * reference::adjoint(n), reference::Matrix<3>::identity()));
      }
    CHECK(largest < 1e-13);
  }
}

TEST_CASE("smear: epsilon from the mass by the series") {
  CHECK(naik_epsilon_of_mass(0) == 0);
  for (const double mass : {0.05, 0.4, 0.9})
    CHECK(naik_epsilon_of_mass(mass) == doctest::Approx(reference::hisq_epsilon(mass)).epsilon(1e-14));
  for (const double mass : {-0.1, 1.5, double{NAN}, double{INFINITY}}) CHECK_THROWS_AS(naik_epsilon_of_mass(mass), Error);
}

TEST_CASE("smear: what cannot be smeared is refused") {
  const Coord lattice{4, 4, 4, 4};
  const runtime::Session session(options(1));
  HostGauge gauge = reference::random_gauge(lattice, seed);
  CHECK_THROWS_AS(naive_links(whole({4, 4, 4, 8}), gauge, periodic), ShapeError);
  CHECK_THROWS_AS(asqtad_links(whole(lattice), gauge, periodic, 0), Error);
  CHECK_THROWS_AS(asqtad_links(whole(lattice), gauge, periodic, NAN), Error);
  CHECK_THROWS_AS(hisq_links(whole(lattice), gauge, periodic, -1), Error);
  CHECK_THROWS_AS(hisq_links(whole(lattice), gauge, {0, 0, 0, NAN}, 0), Error);
  CHECK_THROWS_AS(hisq_links(runtime::Decomposition(lattice, {1, 1, 1, 4}, 1), gauge, periodic, 0), Error);
  gauge.data[7] += 0.1;
  CHECK_THROWS_AS(hisq_links(whole(lattice), gauge, periodic, 0), Error);
}

}  // namespace smear_links_test
