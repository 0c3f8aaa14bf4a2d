// Staggered correlators against the reference's, on fields that are no solutions.
#include "codelets/contract/staggered_meson.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/system/error.hpp"
#include "tests/reference/correlator.hpp"

#include <doctest/doctest.h>

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 20261130;

struct Columns {
  reference::Propagator reference;
  std::vector<HostField> ours;
};

Columns random_columns(const Coord& extents) {
  Columns columns;
  for (std::uint64_t c = 0; c < 3; ++c) {
    columns.reference.push_back(reference::random_field(extents, 1, seed + c));
    columns.ours.emplace_back(colour_components, extents);
    columns.ours.back().data = columns.reference.back().data;
  }
  return columns;
}

}  // namespace

TEST_CASE("staggered correlators equal the reference's") {
  MESSAGE("seed " << seed);
  const Coord extents{4, 6, 2, 8};
  const Columns columns = random_columns(extents);
  const int source_time = 3;
  const Coord origin{2, 0, 0, source_time};
  const auto close = [&](StaggeredMeson meson, const std::vector<double>& from_zero) {
    const std::vector<double> got = staggered_correlator(meson, columns.ours, origin);
    for (std::size_t t = 0; t < got.size(); ++t) {
      INFO(name_of(meson) << " t " << t);
      CHECK(got[t] == doctest::Approx(from_zero[(t + source_time) % from_zero.size()]).epsilon(1e-12));
    }
  };
  close(StaggeredMeson::pion5, reference::pion(columns.reference));
  const std::vector<double> x = reference::staggered_rho(columns.reference, 0), y = reference::staggered_rho(columns.reference, 1),
                            z = reference::staggered_rho(columns.reference, 2);
  close(StaggeredMeson::rho_x, x);
  close(StaggeredMeson::rho_y, y);
  close(StaggeredMeson::rho_z, z);
  std::vector<double> mean(x.size());
  for (std::size_t t = 0; t < mean.size(); ++t) mean[t] = (x[t] + y[t] + z[t]) / 3;
  close(StaggeredMeson::rho, mean);
}

TEST_CASE("shares of a lattice cut over ranks add up to the same bits") {
  const Coord extents{4, 6, 2, 8};
  const Columns columns = random_columns(extents);
  const runtime::Decomposition first(extents, runtime::RankGrid{{2, 3, 1, 2}, 0, {}}, {1, 1, 1, 1}, 1);
  for (const StaggeredMeson meson : all_staggered_mesons) {
    std::vector<runtime::BinnedSum> sums(8, runtime::BinnedSum::zero());
    for (int rank = 0; rank < 12; ++rank) {
      std::vector<HostField> parts(3, HostField(colour_components, first.part_of(rank)));
      for (std::size_t column = 0; column < 3; ++column)
        for (std::int64_t site = 0; site < volume(parts[column].extents); ++site) {
          Coord x = coordinates(site, parts[column].extents);
          for (std::size_t mu = 0; mu < 4; ++mu) x[mu] += parts[column].origin[mu];
          for (int colour = 0; colour < 3; ++colour)
            parts[column].at(site, colour) = columns.ours[column].at(lexicographic(x, extents), colour);
        }
      const std::vector<runtime::BinnedSum> share = staggered_sums(meson, parts, {1, 0, 1, 3}, 8);
      for (std::size_t t = 0; t < 8; ++t) sums[t].merge(share[t]);
    }
    const std::vector<double> whole = staggered_correlator(meson, columns.ours, {1, 0, 1, 3});
    for (std::size_t t = 0; t < 8; ++t) CHECK(runtime::value_of(sums[t]) == whole[t]);
  }
}

TEST_CASE("pion05 has the sign of x + y + z") {
  const Coord extents{2, 2, 2, 4};
  std::vector<HostField> columns(3, HostField(colour_components, extents));
  columns[1].at(lexicographic({1, 1, 1, 2}, extents), 0) = 2;
  columns[2].at(lexicographic({1, 0, 1, 2}, extents), 2) = {0, 3};
  CHECK(staggered_correlator(StaggeredMeson::pion05, columns, {0, 0, 0, 1}) == std::vector<double>{0, 5, 0, 0});
  CHECK(staggered_correlator(StaggeredMeson::pion05, columns, {1, 0, 0, 1}) == std::vector<double>{0, -5, 0, 0});
  CHECK(staggered_correlator(StaggeredMeson::rho_y, columns, {1, 0, 0, 2}) == std::vector<double>{5, 0, 0, 0});
  columns.pop_back();
  CHECK_THROWS_AS(staggered_correlator(StaggeredMeson::pion5, columns, {}), ShapeError);
}
