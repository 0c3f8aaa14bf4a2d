// Smeared quark fields and sources against the reference, on every cut, layout and number of vectors; gauge covariance, plane waves, and
// translations of a source.
#include "codelets/field/source_field.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/gauge/gauge_field.hpp"
#include "codelets/gauge/smear/smear.hpp"
#include "codelets/quark_smear/smearers.hpp"
#include "tests/battery/support.hpp"
#include "tests/reference/quark_smearing.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

namespace quark_smear_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 27182;
const Coord lattice{8, 4, 4, 8};
const QuarkSmearing plain{QuarkSmearing::Form::gaussian, 2.0, 10}, on_ape{QuarkSmearing::Form::wuppertal, 0.15, 5, 0.6, 3};
const Coord cuts[] = {{1, 1, 1, 1}, {2, 1, 1, 2}, {1, 2, 2, 4}};

runtime::SessionOptions options(int workers = 2) { return {.cpu_workers = workers, .threads_per_worker = 1, .cuda_workers = 0}; }

/// Needs a session.
runtime::Decomposition cut(const Coord& blocks) { return {lattice, blocks, runtime::Session::current().block_owners()}; }

std::vector<HostField> stored(const FullField& field) {
  std::vector<HostField> host(static_cast<std::size_t>(field.even.vectors()), HostField(field.even.components(), lattice));
  for (const int parity : {0, 1}) transfer::store(host, field.of(parity));
  runtime::Session::current().wait_all();
  return host;
}

/// All vectors, smeared, from a field with a layout of its own.
std::vector<HostField> smeared(const QuarkSmearers& smearers, const QuarkSmearing& smearing, const std::vector<HostField>& vectors,
                               const LayoutRequest& layout = {}) {
  const int components = vectors.front().components, n = static_cast<int>(vectors.size());
  const auto from_lattice =
      std::make_shared<Lattice>(smearers.lattice()->decomposition(), Precision::double_, antiperiodic_in_time, layout);
  const FullField from(from_lattice, components, n), to(smearers.lattice(), components, n);
  for (const int parity : {0, 1}) transfer::load(from.of(parity), vectors);
  // In the other order, and back.
  std::vector<int> numbers;
  for (int v = n - 1; v >= 0; --v) numbers.push_back(v);
  smearers.smear(smearing, to, from, numbers);
  std::vector<HostField> result = stored(to);
  std::reverse(result.begin(), result.end());
  return result;
}

HostGauge links_for(const QuarkSmearing& smearing, const HostGauge& gauge) {
  return reference::ape_smeared(gauge, smearing.ape, smearing.ape_steps);
}

double difference(const HostField& a, const reference::Field& b) { return reference::max_difference(battery::to_reference(a), b); }

std::vector<HostField> random_vectors(int components, int count) {
  std::vector<HostField> vectors;
  for (int v = 0; v < count; ++v) {
    vectors.emplace_back(components, lattice);
    vectors.back().data = reference::random_field(lattice, components / 3, seed + static_cast<std::uint64_t>(v)).data;
  }
  return vectors;
}

}  // namespace

TEST_CASE("APE smearing of links: the reference, the same bits for every cut, and gauge covariance") {
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.3);
  const std::vector<reference::Matrix<3>> g = reference::random_transform(lattice, seed + 1);
  const auto ape = [](const HostGauge& host, const Coord& blocks) {
    runtime::Session session(options());
    gauge::GaugeField a(cut(blocks), Coord{1, 1, 1, 0}), b(cut(blocks), Coord{1, 1, 1, 0});
    gauge::load(a, host);
    gauge::exchange_border(a);
    smear::ape_links(b, a, 0.6);
    gauge::exchange_border(b);
    smear::ape_links(a, b, 0.6);
    HostGauge out = host;
    gauge::store(out, a);
    session.wait_all();
    CHECK_THROWS_AS(smear::ape_links(a, gauge::GaugeField(cut(blocks), 0), 0.6), ShapeError);
    return out;
  };
  const HostGauge expected = reference::ape_smeared(gauge, 0.6, 2), got = ape(gauge, cuts[0]);
  const auto largest = [](const HostGauge& a, const HostGauge& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.data.size(); ++i) most = std::max(most, std::abs(a.data[i] - b.data[i]));
    return most;
  };
  CHECK(largest(got, expected) < 1e-13);
  CHECK(reference::unitarity_deviation(got) < 1e-14);
  for (const Coord& blocks : cuts) CHECK(ape(gauge, blocks).data == got.data);
  CHECK(largest(ape(reference::transform(gauge, g), cuts[1]), reference::transform(got, g)) < 1e-13);
}

TEST_CASE("smeared fields are the reference's, with the same bits for every cut, layout and number of vectors") {
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.3);
  for (const QuarkSmearing& smearing : {plain, on_ape})
    for (const auto& [components, count] : {std::pair{spinor_components, 12}, {colour_components, 5}}) {
      const HostGauge links = links_for(smearing, gauge);
      const std::vector<HostField> vectors = random_vectors(components, count);
      std::vector<HostField> first;
      for (const Coord& blocks : cuts)
        for (const LayoutRequest& layout : {LayoutRequest{}, LayoutRequest{.most_lanes = 1}, LayoutRequest{.tile = {2, 2, 2, 2}}}) {
          runtime::Session session(options());
          const QuarkSmearers smearers(cut(blocks), gauge, std::vector{plain, on_ape});
          const std::vector<HostField> all = smeared(smearers, smearing, vectors, layout);
          if (first.empty()) first = all;
          for (std::size_t v = 0; v < all.size(); ++v) CHECK(battery::same_bits(all[v], first[v]));
          CHECK(battery::same_bits(smeared(smearers, smearing, {vectors[1]}).front(), first[1]));
        }
      for (const std::size_t v : {std::size_t{0}, vectors.size() - 1})
        CHECK(difference(first[v], reference::smeared(links, battery::to_reference(vectors[v]), smearing.weight(), smearing.steps)) <
              1e-12);
    }
}

TEST_CASE("smearing in place, and what is refused") {
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.3);
  runtime::Session session(options());
  const QuarkSmearers smearers(cut(cuts[1]), gauge, std::vector{plain});
  const std::vector<HostField> vectors = random_vectors(spinor_components, 12), expected = smeared(smearers, plain, vectors);
  std::vector<int> all(12);
  std::iota(all.begin(), all.end(), 0);
  const FullField field(smearers.lattice(), spinor_components, 12), colours(smearers.lattice(), colour_components, 12);
  for (const int parity : {0, 1}) transfer::load(field.of(parity), vectors);
  smearers.smear(plain, field, field, all);
  const std::vector<HostField> got = stored(field);
  for (std::size_t v = 0; v < 12; ++v) CHECK(battery::same_bits(got[v], expected[v]));
  CHECK_THROWS_AS(smearers.smear(on_ape, field, field, all), ShapeError);
  CHECK_THROWS_AS(smearers.smear(plain, colours, field, all), ShapeError);
  CHECK_THROWS_AS(smearers.smear(plain, field, field, std::vector{0, 12}), ShapeError);
}

TEST_CASE("smearing commutes with gauge transformations, and takes plane waves to multiples of themselves") {
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.3);
  const std::vector<reference::Matrix<3>> g = reference::random_transform(lattice, seed + 1);
  const std::vector<HostField> vectors = random_vectors(spinor_components, 2);
  runtime::Session session(options());
  for (const QuarkSmearing& smearing : {plain, on_ape}) {
    const QuarkSmearers here(cut(cuts[1]), gauge, std::vector{smearing}),
        there(cut(cuts[1]), reference::transform(gauge, g), std::vector{smearing});
    const reference::Field psi = battery::to_reference(vectors[0]);
    const HostField turned = smeared(there, smearing, {battery::to_host(reference::transform(psi, g))}).front();
    CHECK(difference(turned, reference::transform(battery::to_reference(smeared(here, smearing, {vectors[0]}).front()), g)) < 1e-12);
    const QuarkSmearers free(cut(cuts[2]), reference::unit_gauge(lattice), std::vector{smearing});
    for (const Coord& n : {Coord{0, 0, 0, 0}, Coord{1, 0, 3, 2}, Coord{4, 2, 2, 0}}) {
      HostField wave(colour_components, lattice);
      double lap = 0;
      for (std::size_t mu = 0; mu < 3; ++mu) lap += 2 * std::cos(2 * std::numbers::pi * n[mu] / lattice[mu]) - 2;
      for (std::int64_t site = 0; site < volume(lattice); ++site) {
        const Coord x = coordinates(site, lattice);
        double turns = 0;
        for (std::size_t mu = 0; mu < 4; ++mu) turns += static_cast<double>(n[mu] * x[mu]) / lattice[mu];
        wave.at(site, 1) = std::polar(1.0, 2 * std::numbers::pi * turns);
      }
      const double factor = std::pow(1 + smearing.weight() * lap, smearing.steps);
      CHECK(difference(smeared(free, smearing, {wave}).front(), reference::Complex{factor} * battery::to_reference(wave)) < 1e-13);
    }
  }
}

TEST_CASE("columns of smeared points are the reference's, whatever is beside them; a moved point has those of the moved configuration") {
  MESSAGE("seed " << seed);
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.3);
  const auto point = [](const Coord& x, const std::optional<QuarkSmearing>& smearing) {
    Source source{Source::Kind::point, x};
    source.smearing = smearing;
    return source;
  };
  const Source here = point({3, 1, 2, 6}, plain), there = point({0, 3, 1, 6}, plain), other = point({3, 1, 2, 1}, on_ape),
               sharp = point({1, 1, 1, 6}, {}), wall{Source::Kind::wall, {0, 0, 0, 2}, 1, {1, 0, -1}};
  const std::vector<SourceColumn> columns{{here, 7}, {sharp, 3}, {there, 2}, {other, 11}, {here, 1}, {wall, 5}, {here, 4}};
  std::vector<HostField> first;
  for (const Coord& blocks : cuts) {
    runtime::Session session(options());
    const QuarkSmearers smearers(cut(blocks), gauge, std::vector{plain, on_ape});
    const auto written = [&](const std::vector<SourceColumn>& of) {
      const FullField field(std::make_shared<Lattice>(cut(blocks), Precision::double_, antiperiodic_in_time), spinor_components,
                            static_cast<int>(of.size()));
      const SourceColumns sources(cut(blocks), of, &smearers);
      sources.submit(field.even);
      sources.submit(field.odd);
      return stored(field);
    };
    const std::vector<HostField> all = written(columns);
    if (first.empty()) first = all;
    for (std::size_t v = 0; v < all.size(); ++v) {
      CHECK(battery::same_bits(all[v], first[v]));
      CHECK(battery::same_bits(written({columns[v]}).front(), first[v]));
    }
    CHECK_THROWS_AS(SourceColumns(cut(blocks), columns), ShapeError);
  }
  for (std::size_t v = 0; v < columns.size(); ++v) {
    Source sharpened = columns[v].source;
    sharpened.smearing.reset();
    reference::Field expected = battery::to_reference(make_source(sharpened, spinor_components, lattice, columns[v].column));
    if (const auto& smearing = columns[v].source.smearing)
      expected = reference::smeared(links_for(*smearing, gauge), expected, smearing->weight(), smearing->steps);
    CHECK(difference(first[v], expected) < 1e-14);
  }
  CHECK_THROWS_AS(make_source(here, spinor_components, lattice, 0), Error);

  HostGauge shifted = gauge;
  const Coord step{3, 1, 2, 6};
  const auto moved = [&](std::int64_t site) {
    Coord x = coordinates(site, lattice);
    for (std::size_t mu = 0; mu < 4; ++mu) x[mu] = (x[mu] + step[mu]) % lattice[mu];
    return lexicographic(x, lattice);
  };
  for (std::int64_t site = 0; site < volume(lattice); ++site)
    for (int mu = 0; mu < 4; ++mu) std::ranges::copy(gauge.link(moved(site), mu), shifted.link(site, mu).begin());
  runtime::Session session(options());
  const QuarkSmearers smearers(cut(cuts[0]), shifted, std::vector{plain});
  const FullField field(smearers.lattice(), spinor_components, 1);
  const SourceColumns sources(cut(cuts[0]), {{point({0, 0, 0, 0}, plain), 7}}, &smearers);
  sources.submit(field.even);
  sources.submit(field.odd);
  const HostField origin = stored(field).front();
  for (std::int64_t site = 0; site < volume(lattice); ++site)
    for (int c = 0; c < 12; ++c) CHECK(origin.at(site, c) == first[0].at(moved(site), c));
}

}  // namespace quark_smear_test
