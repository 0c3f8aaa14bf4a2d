// Plaquette, link trace and unitarity against the reference, for any number of threads, and on broken input.
#include "codelets/gauge/observables.hpp"
#include "runtime/system/error.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/unit/error_testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace gauge_observables_test {

using namespace quarkstar;

using error_testing::message_of;

namespace {

runtime::Team team_of(int threads) { return runtime::Team(std::vector<int>(static_cast<std::size_t>(threads), 0)); }

}  // namespace

TEST_CASE("gauge: plaquettes and link trace equal the reference on random links") {
  const std::uint64_t seed = 21;
  CAPTURE(seed);
  for (const Coord& extents : {Coord{4, 2, 3, 5}, Coord{1, 2, 1, 3}, Coord{6, 4, 2, 2}}) {
    const HostGauge field = reference::near_unit_gauge(extents, seed, 0.4);
    const gauge::Plaquettes got = gauge::plaquettes(field, team_of(2));
    const reference::Plaquettes expected = reference::plaquettes(field);
    CHECK(std::abs(got.spatial - expected.spatial) < 1e-14);
    CHECK(std::abs(got.temporal - expected.temporal) < 1e-14);
    CHECK(got.mean() == 0.5 * (got.spatial + got.temporal));
    CHECK(std::abs(gauge::link_trace(field, team_of(2)) - reference::link_trace(field)) < 1e-14);
  }
}

TEST_CASE("gauge: observables are gauge invariant where they must be") {
  const std::uint64_t seed = 22;
  CAPTURE(seed);
  const Coord extents{4, 2, 4, 2};
  const HostGauge field = reference::near_unit_gauge(extents, seed, 0.3);
  const HostGauge rotated = reference::transform(field, reference::random_transform(extents, seed + 1));
  CHECK(std::abs(gauge::plaquettes(rotated, team_of(1)).mean() - gauge::plaquettes(field, team_of(1)).mean()) < 1e-14);
}

TEST_CASE("gauge: shifted and conjugated links have the same plaquettes and link trace, and another place sum") {
  const std::uint64_t seed = 24;
  CAPTURE(seed);
  const Coord extents{4, 2, 6, 4};
  const HostGauge field = reference::near_unit_gauge(extents, seed, 0.4);
  const auto place_sum = [&](const HostGauge& of, int threads = 2) {
    return runtime::value_of(gauge::place_sum(of, extents, {{}, extents}, team_of(threads)));
  };
  HostGauge conjugated = field;
  for (std::size_t i = 1; i < conjugated.data.size(); i += 2) conjugated.data[i] = -conjugated.data[i];
  std::vector<HostGauge> others{conjugated};
  for (int mu = 0; mu < 4; ++mu) {
    HostGauge& shifted = others.emplace_back(field);
    for (std::int64_t i = 0; i < volume(extents); ++i) {
      Coord from = coordinates(i, extents);
      from[mu] = (from[mu] + 1) % extents[mu];
      for (int nu = 0; nu < 4; ++nu) {
        const auto link = field.link(lexicographic(from, extents), nu);
        std::copy(link.begin(), link.end(), shifted.data.begin() + (4 * i + nu) * 18);
      }
    }
  }
  for (const HostGauge& other : others) {
    CHECK(gauge::link_trace(other, team_of(2)) == gauge::link_trace(field, team_of(2)));
    CHECK(gauge::plaquettes(other, team_of(2)).mean() == doctest::Approx(gauge::plaquettes(field, team_of(2)).mean()).epsilon(1e-13));
    CHECK(std::abs(place_sum(other) - place_sum(field)) > 1e-3);
  }
  // The bits of threads and parts.
  CHECK(place_sum(field, 7) == place_sum(field, 1));
  runtime::BinnedSum merged = gauge::place_sum(field, extents, {{}, {4, 2, 6, 1}}, team_of(1));
  merged.merge(gauge::place_sum(field, extents, {{0, 0, 0, 1}, {4, 2, 6, 3}}, team_of(2)));
  CHECK(runtime::value_of(merged) == place_sum(field));
}

TEST_CASE("gauge: observables have the same bits for any number of threads") {
  const HostGauge field = reference::random_gauge({4, 4, 3, 5}, 23);
  const gauge::Plaquettes plaquettes = gauge::plaquettes(field, team_of(1));
  const double trace = gauge::link_trace(field, team_of(1));
  const gauge::UnitarityDeviation deviation = gauge::unitarity_deviation(field, team_of(1));
  for (const int threads : {2, 3, 7, 40}) {
    CAPTURE(threads);
    const gauge::Plaquettes again = gauge::plaquettes(field, team_of(threads));
    CHECK(again.spatial == plaquettes.spatial);
    CHECK(again.temporal == plaquettes.temporal);
    CHECK(gauge::link_trace(field, team_of(threads)) == trace);
    CHECK(gauge::unitarity_deviation(field, team_of(threads)).unitarity == deviation.unitarity);
    CHECK(gauge::unitarity_deviation(field, team_of(threads)).determinant == deviation.determinant);
  }
}

TEST_CASE("gauge: unitarity deviation finds one link that is scaled or has a phase") {
  const Coord extents{2, 4, 2, 4};
  const HostGauge field = reference::random_gauge(extents, 24);
  CHECK(gauge::unitarity_deviation(field, team_of(2)).unitarity < 1e-14);
  CHECK(gauge::unitarity_deviation(field, team_of(2)).determinant < 1e-14);

  HostGauge scaled = field;
  reference::set_link(scaled, 37, 2, 1.01 * reference::link(field, 37, 2));
  CHECK(gauge::unitarity_deviation(scaled, team_of(2)).unitarity == doctest::Approx(1.01 * 1.01 - 1).epsilon(1e-12));
  CHECK(gauge::unitarity_deviation(scaled, team_of(2)).determinant == doctest::Approx(1.01 * 1.01 * 1.01 - 1).epsilon(1e-12));

  HostGauge phased = field;
  reference::set_link(phased, 5, 3, std::polar(1.0, 0.1) * reference::link(field, 5, 3));
  CHECK(gauge::unitarity_deviation(phased, team_of(2)).unitarity < 1e-14);
  CHECK(gauge::unitarity_deviation(phased, team_of(2)).determinant == doctest::Approx(std::abs(std::polar(1.0, 0.3) - 1.0)));
}

TEST_CASE("gauge: reunitarize is MILC's projection, as in the reference") {
  const Coord extents{4, 2, 2, 3};
  HostGauge field = reference::random_gauge(extents, 25);
  for (double& value : field.data) value = 1.3 * static_cast<float>(value) + 0.01;
  HostGauge expected = field;
  reference::reunitarize(expected);
  gauge::reunitarize(field, team_of(3));
  for (std::size_t i = 0; i < field.data.size(); ++i) REQUIRE(std::abs(field.data[i] - expected.data[i]) < 1e-14);
  CHECK(reference::unitarity_deviation(field) < 1e-14);
}

TEST_CASE("gauge: an entry that is no number is reported with its place") {
  const HostGauge field = reference::unit_gauge({4, 2, 2, 4});
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity(), -1e60}) {
    HostGauge broken = field;
    broken.link(lexicographic({3, 1, 0, 2}, field.extents), 2)[2 * 5 + 1] = value;
    broken.link(lexicographic({0, 0, 1, 3}, field.extents), 0)[0] = value;  // later in the order: not the one to report
    const std::string place = "link U_z at (x,y,z,t) = (3,1,0,2), row 1, column 2";
    for (const int threads : {1, 4}) {
      CHECK(message_of([&] { gauge::plaquettes(broken, team_of(threads)); }).find(place) != std::string::npos);
      CHECK(message_of([&] { gauge::link_trace(broken, team_of(threads)); }).find(place) != std::string::npos);
      CHECK(message_of([&] { gauge::unitarity_deviation(broken, team_of(threads)); }).find(place) != std::string::npos);
      CHECK(message_of([&] { gauge::reunitarize(broken, team_of(threads)); }).find(place) != std::string::npos);
    }
  }
}

TEST_CASE("gauge: reunitarize names a link whose rows are linearly dependent") {
  const HostGauge field = reference::random_gauge({2, 2, 2, 2}, 26);
  for (const double zero_or_copy : {0.0, 1.0}) {
    HostGauge broken = field;
    const auto link = broken.link(lexicographic({0, 1, 1, 0}, field.extents), 3);
    for (int j = 0; j < 6; ++j) link[6 + j] = zero_or_copy * link[j];
    CHECK(message_of([&] { gauge::reunitarize(broken, team_of(2)); }).find("link U_t at (x,y,z,t) = (0,1,1,0)") != std::string::npos);
  }
}

TEST_CASE("gauge: data that do not match the extents are refused") {
  HostGauge field = reference::unit_gauge({2, 2, 2, 2});
  field.data.pop_back();
  CHECK_THROWS_AS(gauge::plaquettes(field, team_of(1)), ShapeError);
  CHECK_THROWS_AS(gauge::link_trace(HostGauge{}, team_of(1)), ShapeError);
}

}  // namespace gauge_observables_test
