// The Wilson hopping term of every architecture, precision, link format, lane layout and cut against the reference.
#include "runtime/graph/scalar.hpp"
#include "tests/battery/support.hpp"

#include <algorithm>
#include <cmath>

namespace hopping_test {

using namespace quarkstar;
using battery::HoppingCase;

namespace {

constexpr std::uint64_t seed = 20261121;

/// max |a - b| over max |b|.
double relative_difference(const HostField& a, const reference::Field& b) {
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < b.data.size(); ++i) {
    difference = std::max(difference, std::abs(a.data[i] - b.data[i]));
    largest = std::max(largest, std::abs(b.data[i]));
  }
  return difference / largest;
}

/// Of a hopping term, relative to the largest component. Half: a component of the input is off by 1.5e-5 of the largest of its site at
/// most, a link's by as much, and 24 such products are summed. A link from 8 reals is off by a few times more.
double rounding(Precision precision, int link_reals) {
  return (precision == Precision::double_ ? 1e-14 : precision == Precision::single ? 1e-6 : 3e-4) * (link_reals == 8 ? 3 : 1);
}

const Coord lattices[] = {{8, 8, 8, 8}, {4, 4, 4, 8}, {8, 4, 6, 4}};
const Coord cuts[] = {{1, 1, 1, 1}, {1, 1, 1, 2}, {2, 1, 1, 1}, {1, 2, 2, 1}, {2, 2, 2, 2}};

}  // namespace

TEST_CASE("hopping term equals the reference") {
  MESSAGE("seed " << seed);
  const BoundaryAngles angles{0, 0.5, 0.3, 1};
  const reference::Boundary phases = reference::Boundary::twisted({M_PI * angles[0], M_PI * angles[1], M_PI * angles[2], M_PI * angles[3]});
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const Coord& lattice : lattices) {
    const HostGauge gauge = reference::random_gauge(lattice, seed);
    const reference::Field psi = reference::random_field(lattice, 4, seed + 1);
    const HostField host = battery::to_host(psi);
    const reference::Field expected[] = {reference::hop(gauge, psi, phases), reference::hop_dagger(gauge, psi, phases)};
    // On the largest lattice, on which the next test compares the bits of all, a third: every pair of settings.
    std::size_t number = 0;
    for (const Coord& blocks : cuts)
      for (const int most_lanes : {16, 8, 4, 1}) {
        ++number;
        for (const int reals : {18, 12, 8})
          for (const Precision precision : {Precision::double_, Precision::single, Precision::half}) {
            if (&lattice == lattices && (number + static_cast<std::size_t>(reals / 6) + static_cast<std::size_t>(precision)) % 3 != 0)
              continue;
            battery::for_architectures([&] {
              const HoppingCase c{lattice, blocks, precision, reals, most_lanes};
              INFO(c.text());
              battery::HoppingHarness harness(c, gauge, angles);
              for (const bool adjoint : {false, true})
                CHECK(relative_difference(harness.apply(host, adjoint), expected[adjoint]) < rounding(precision, reals));
            });
          }
      }
  }
}

TEST_CASE("hopping term has the same bits for every cut, lane layout and architecture") {
  const Coord lattice{8, 8, 8, 8};
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::random_gauge(lattice, seed + 2);
  const HostField psi = battery::to_host(reference::random_field(lattice, 4, seed + 3));
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
    for (const int reals : {18, 12, 8}) {
      const HostField first = battery::HoppingHarness({lattice, {1, 1, 1, 1}, precision, reals}, gauge, antiperiodic_in_time).apply(psi);
      for (const Coord& blocks : cuts)
        for (const int most_lanes : {16, 8, 1})
          battery::for_architectures([&] {
            const HoppingCase c{lattice, blocks, precision, reals, most_lanes};
            INFO(c.text());
            CHECK(battery::same_bits(battery::HoppingHarness(c, gauge, antiperiodic_in_time).apply(psi), first));
          });
    }
}

TEST_CASE("unequal blocks and odd extents give the same bits") {
  const Coord lattice{8, 6, 6, 10};
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::random_gauge(lattice, seed + 4);
  const HostField psi = battery::to_host(reference::random_field(lattice, 4, seed + 5));
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const HostField whole = battery::HoppingHarness({lattice, {1, 1, 1, 1}}, gauge, antiperiodic_in_time).apply(psi);
  const std::array<std::vector<int>, 4> cuts_by_hand[] = {
      {{{8}, {6}, {6}, {7, 3}}}, {{{2, 6}, {6}, {1, 5}, {10}}}, {{{8}, {3, 3}, {6}, {1, 2, 7}}}};
  for (const auto& parts : cuts_by_hand) {
    const std::size_t blocks = parts[0].size() * parts[1].size() * parts[2].size() * parts[3].size();
    std::vector<int> owners(blocks);
    for (std::size_t b = 0; b < blocks; ++b) owners[b] = static_cast<int>(b % 2);
    const runtime::Decomposition decomposition(lattice, parts, owners);
    INFO(decomposition.describe());
    const auto layout = std::make_shared<Lattice>(decomposition, Precision::double_, antiperiodic_in_time);
    LinkField even(layout, 0, 18), odd(layout, 1, 18);
    transfer::load_links(even, odd, gauge);
    wilson::Hopping hopping(even, odd);
    HostField result(spinor_components, lattice);
    for (int parity = 0; parity < 2; ++parity) {
      const Field in(layout, 1 - parity, 12), out(layout, parity, 12);
      transfer::load(in, psi);
      hopping.apply(out, in);
      transfer::store(result, out);
    }
    session.wait_all();
    CHECK(battery::same_bits(result, whole));
  }
}

TEST_CASE("fused output and sums equal separate steps") {
  const Coord lattice{4, 4, 8, 8};
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::random_gauge(lattice, seed + 6);
  const reference::Field psi = reference::random_field(lattice, 4, seed + 7);
  const HostField host = battery::to_host(psi);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const Coord& blocks : cuts) {
    battery::HoppingHarness harness({lattice, blocks}, gauge, antiperiodic_in_time);
    const Field in(harness.lattice(), 1, 12), x(harness.lattice(), 0, 12), y(harness.lattice(), 0, 12), out(harness.lattice(), 0, 12);
    const reference::Field other = reference::random_field(lattice, 4, seed + 8);
    const HostField other_host = battery::to_host(other);
    transfer::load(in, host);
    transfer::load(x, host);
    transfer::load(y, other_host);
    harness.hopping().apply(out, in,
                            {.x = &x,
                             .diagonal = same_for_all(1.5),
                             .scale = same_for_all(-0.25),
                             .y = &y,
                             .sums = {.norm = true, .dot = true, .imaginary = true}});
    HostField result(spinor_components, lattice);
    transfer::store(result, out);
    session.wait_all();
    const reference::Boundary phases = reference::Boundary::antiperiodic_t();
    const reference::Field expected =
        reference::restrict_to_parity(1.5 * psi - reference::Complex(0.25) * reference::hop(gauge, psi, phases), 0);
    CHECK(relative_difference(result, expected) < 1e-14);
    const reference::Complex dot = reference::inner(other, expected);
    double sums[3];
    for (int s = 0; s < 3; ++s) {
      runtime::BinnedSum total = runtime::BinnedSum::zero();
      const runtime::PartialSums& partials = harness.hopping().sums();
      for (int p = 0; p < partials.tasks(); ++p)
        total.merge(runtime::HostView<runtime::BinnedSum>(partials.task(p))[static_cast<std::size_t>(s)]);
      sums[s] = runtime::value_of(total);
    }
    CHECK(sums[0] == doctest::Approx(reference::norm2(expected)).epsilon(1e-13));
    CHECK(sums[1] == doctest::Approx(dot.real()).epsilon(1e-11));
    CHECK(sums[2] == doctest::Approx(dot.imag()).epsilon(1e-11));
  }
}

TEST_CASE("fields of the wrong parity are refused, and a result that is also an input") {
  const Coord lattice{4, 4, 4, 4};
  runtime::Session session({.cpu_workers = 1, .cuda_workers = 0});
  battery::HoppingHarness harness({lattice, {1, 1, 1, 1}}, reference::unit_gauge(lattice), antiperiodic_in_time);
  wilson::Hopping& hopping = harness.hopping();
  const Field in(harness.lattice(), 1, 12), other(harness.lattice(), 1, 12), out(harness.lattice(), 0, 12), x(harness.lattice(), 0, 12);
  const stencil::OutputSums dot{.norm = false, .dot = true, .imaginary = false};
  CHECK_THROWS_AS(hopping.apply(in, in), ShapeError);
  CHECK_THROWS_AS(hopping.apply(other, in), ShapeError);
  CHECK_THROWS_AS(hopping.apply(out, in, {.x = &in}), ShapeError);
  CHECK_THROWS_AS(hopping.apply(out, in, {.x = &other}), ShapeError);
  CHECK_THROWS_AS(hopping.apply(out, in, {.x = &out}), ShapeError);
  CHECK_THROWS_AS(hopping.apply(out, in, {.y = &in, .sums = dot}), ShapeError);
  CHECK_THROWS_AS(hopping.apply(out, in, {.y = &other, .sums = dot}), ShapeError);
  const HostField zeros(spinor_components, lattice);
  transfer::load(in, zeros);
  transfer::load(x, zeros);
  CHECK_NOTHROW(hopping.apply(out, in, {.x = &x, .y = &x, .sums = dot}));
  session.wait_all();
}

TEST_CASE("gamma5-hermiticity and adjointness on random fields") {
  const Coord lattice{4, 4, 4, 8};
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::random_gauge(lattice, seed + 9);
  const reference::Field a = reference::random_field(lattice, 4, seed + 10), b = reference::random_field(lattice, 4, seed + 11);
  runtime::Session session({.cpu_workers = 1, .cuda_workers = 0});
  const auto gamma5 = [](HostField psi) {
    for (std::int64_t site = 0; site < volume(psi.extents); ++site)
      for (int spin = 2; spin < 4; ++spin)
        for (int colour = 0; colour < 3; ++colour) psi.at(site, spin, colour) = -psi.at(site, spin, colour);
    return psi;
  };
  for (const Coord& blocks : {Coord{1, 1, 1, 2}, Coord{2, 1, 2, 1}, Coord{1, 1, 2, 2}})
    for (const Precision precision : {Precision::double_, Precision::single})
      for (const int reals : {18, 12, 8})
        battery::for_architectures([&] {
          const HoppingCase c{lattice, blocks, precision, reals};
          INFO(c.text());
          const double epsilon = precision == Precision::double_ ? 1e-15 : 5e-7;
          battery::HoppingHarness harness(c, gauge, antiperiodic_in_time);
          const HostField direct = harness.apply(battery::to_host(a), true);
          const HostField through_gamma5 = gamma5(harness.apply(gamma5(battery::to_host(a))));
          CHECK(relative_difference(through_gamma5, battery::to_reference(direct)) < epsilon);
          const reference::Complex left = reference::inner(b, battery::to_reference(harness.apply(battery::to_host(a))));
          const reference::Complex right = reference::inner(battery::to_reference(harness.apply(battery::to_host(b), true)), a);
          CHECK(std::abs(left - right) < epsilon * std::sqrt(reference::norm2(a) * reference::norm2(b)));
        });
}

TEST_CASE("gauge covariance") {
  const Coord lattice{4, 4, 4, 4};
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::random_gauge(lattice, seed + 12);
  const auto g = reference::random_transform(lattice, seed + 13);
  const reference::Field psi = reference::random_field(lattice, 4, seed + 14);
  runtime::Session session({.cpu_workers = 1, .cuda_workers = 0});
  const auto hop = [&](const HostGauge& links, const reference::Field& field) {
    return battery::HoppingHarness({lattice, {1, 1, 1, 1}}, links, antiperiodic_in_time).apply(battery::to_host(field));
  };
  const HostField transformed = hop(reference::transform(gauge, g), reference::transform(psi, g));
  CHECK(relative_difference(transformed, reference::transform(battery::to_reference(hop(gauge, psi)), g)) < 1e-13);
}

}  // namespace hopping_test
