// Links of a part of the lattice against those of the whole, bit for bit, and the boxes behind them.
#include "codelets/gauge/smear/region.hpp"
#include "codelets/lattice/boxes.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/smear_testing.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <set>
#include <vector>

using namespace quarkstar;
using namespace quarkstar::smear;
using reference::cut_out;
using smear_testing::options;
using smear_testing::whole;

namespace {

constexpr std::uint64_t seed = 20261122;
constexpr BoundaryAngles twisted{0.25, 1, 0.3, 0.5};

/// Site number i of a box, inside the lattice.
Coord site_of(const Box& box, std::int64_t i, const Coord& lattice) {
  Coord site = coordinates(i, box.extents);
  for (int mu = 0; mu < 4; ++mu) site[mu] = (site[mu] + box.origin[mu]) % lattice[mu];
  return site;
}

bool same_bits(const HostGauge& part, const HostGauge& field) {
  const HostGauge expected = cut_out(field, part.box());
  return part.data.size() == expected.data.size() &&
         std::memcmp(part.data.data(), expected.data.data(), part.data.size() * sizeof(double)) == 0;
}

/// Parts of lattices: cut in each direction, at and over either edge, odd origins and extents, several directions at once, and a lattice so
/// small that a part needs all of it.
struct Sample {
  Coord lattice;
  Box part;
};
const std::vector<Sample> samples{{{16, 4, 4, 4}, {{4, 0, 0, 0}, {4, 4, 4, 4}}},    {{4, 16, 4, 4}, {{0, 12, 0, 0}, {4, 4, 4, 4}}},
                                  {{4, 4, 16, 4}, {{0, 0, 0, 0}, {4, 4, 4, 4}}},    {{4, 4, 4, 16}, {{0, 0, 0, 5}, {4, 4, 4, 3}}},
                                  {{4, 4, 18, 16}, {{0, 0, 7, 13}, {4, 4, 4, 3}}},  {{16, 4, 4, 16}, {{3, 0, 0, 9}, {5, 4, 4, 6}}},
                                  {{14, 2, 14, 14}, {{13, 0, 4, 7}, {3, 2, 3, 4}}}, {{8, 4, 6, 8}, {{4, 0, 0, 4}, {4, 4, 6, 4}}}};

}  // namespace

TEST_CASE("boxes: a part and its border have every site once, also folded into the lattice") {
  MESSAGE("seed " << seed);
  std::mt19937_64 random(seed);
  const auto number = [&random](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  for (int round = 0; round < 200; ++round) {
    Coord lattice{};
    Box part;
    for (int mu = 0; mu < 4; ++mu) {
      lattice[mu] = 2 * number(1, 5);
      part.extents[mu] = number(1, lattice[mu]);
      part.origin[mu] = part.extents[mu] == lattice[mu] ? 0 : number(0, lattice[mu] - 1);
    }
    const int before = number(0, 4), behind = number(0, 4);
    const Box box = with_border(part, lattice, before, behind);
    CAPTURE(lattice);
    CAPTURE(part.origin);
    CAPTURE(part.extents);
    CHECK(contains(box, part, lattice));
    if (box.extents != part.extents) CHECK_FALSE(contains(part, box, lattice));
    std::vector<Box> pieces = border_of(box, part, lattice);
    pieces.push_back(part);
    std::multiset<std::int64_t> sites, of_folded;
    for (const Box& piece : pieces)
      for (std::int64_t i = 0; i < volume(piece.extents); ++i) sites.insert(lexicographic(site_of(piece, i, lattice), lattice));
    for (const Box& piece : folded(pieces, lattice)) {
      for (int mu = 0; mu < 4; ++mu) CHECK(piece.origin[mu] + piece.extents[mu] <= lattice[mu]);
      for (std::int64_t i = 0; i < volume(piece.extents); ++i) of_folded.insert(lexicographic(site_of(piece, i), lattice));
    }
    CHECK(sites == of_folded);
    CHECK(static_cast<std::int64_t>(sites.size()) == volume(box.extents));
    CHECK(std::set<std::int64_t>(sites.begin(), sites.end()).size() == sites.size());
    for (const std::int64_t site : sites) CHECK(contains(box, coordinates(site, lattice), lattice));
    for (int mu = 0; mu < 4; ++mu) {
      if (box.extents[mu] == lattice[mu]) continue;
      CHECK((part.origin[mu] - box.origin[mu] + lattice[mu]) % lattice[mu] == before);
      CHECK(box.extents[mu] == part.extents[mu] + before + behind);
    }
  }
}

TEST_CASE("smear: links of a part are those of the whole lattice, bit for bit") {
  MESSAGE("seed " << seed);
  for (const Sample& sample : samples) {
    const Coord& lattice = sample.lattice;
    CAPTURE(lattice);
    CAPTURE(sample.part.origin);
    CAPTURE(sample.part.extents);
    const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.5);
    StaggeredLinks naive, asqtad, hisq;
    {
      const runtime::Session session(options(1));
      naive = naive_links(whole(lattice), gauge, twisted);
      asqtad = asqtad_links(whole(lattice), gauge, twisted, 0.9);
      hisq = hisq_links(whole(lattice), gauge, twisted, 0.05);
    }
    const std::vector<Coord> grids[] = {{Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}}, {Coord{2, 1, 2, 2}}};  // of one worker, of two
    for (const int workers : {1, 2}) {
      const runtime::Session session(options(workers));
      for (const Coord& grid : grids[workers - 1]) {
        CAPTURE(grid);
        const auto region = [&](const Border& border) { return Region(lattice, sample.part, border, grid, workers); };
        const auto thin = [&](const Region& of) { return cut_out(gauge, of.box); };
        const auto check = [](const StaggeredLinks& links, const StaggeredLinks& all) {
          CHECK(same_bits(links.fat, all.fat));
          REQUIRE(links.has_long == all.has_long);
          if (links.has_long) CHECK(same_bits(links.long_links, all.long_links));
          CHECK(links.long_scale == all.long_scale);
        };
        const Region near = region(naive_border), middle = region(asqtad_border), far = region(hisq_border);
        check(naive_links(near, thin(near), twisted), naive);
        check(asqtad_links(middle, thin(middle), twisted, 0.9), asqtad);
        check(hisq_links(far, thin(far), twisted, 0.05), hisq);
        // More links than the box, as from a file that is read whole.
        if (workers == 2) check(hisq_links(far, gauge, twisted, 0.05), hisq);
      }
    }
  }
}

TEST_CASE("smear: kept are the links of a part and of hops into it") {
  const Coord lattice{4, 4, 16, 16};
  const Box part({0, 0, 4, 0}, {4, 4, 4, 4});
  const Region region(lattice, part, hisq_border, {1, 1, 1, 1}, 1);
  CHECK(region.box.origin == Coord{0, 0, 0, 12});
  CHECK(region.box.extents == Coord{4, 4, 12, 12});
  CHECK(region.fat.origin == Coord{0, 0, 3, 15});
  CHECK(region.fat.extents == Coord{4, 4, 5, 5});
  CHECK(region.far.origin == Coord{0, 0, 1, 13});
  CHECK(region.far.extents == Coord{4, 4, 7, 7});
  CHECK(thin_links_box({{0, 0, 0, 5}, {4, 4, 16, 3}}, lattice, hisq_border).extents == Coord{4, 4, 16, 10});
  CHECK_THROWS_AS(Region(runtime::Decomposition(lattice, runtime::RankGrid{{1, 1, 1, 2}, 0, {}}, {1, 1, 1, 1}, 1)), ShapeError);
}

TEST_CASE("smear: several epsilons of a part, and a border that is too thin") {
  const Coord lattice{4, 4, 4, 16};
  const Box part({0, 0, 0, 4}, {4, 4, 4, 4});
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.5);
  const runtime::Session session(options(1));
  const HisqLinks all(whole(lattice), gauge, antiperiodic_in_time);
  const auto same = [&](const Border& border, double epsilon) {
    const Region region(lattice, part, border, {1, 1, 1, 2}, 1);
    const StaggeredLinks links = HisqLinks(region, cut_out(gauge, region.box), antiperiodic_in_time).links(epsilon),
                         expected = all.links(epsilon);
    return same_bits(links.fat, expected.fat) && same_bits(links.long_links, expected.long_links);
  };
  for (const double epsilon : {0.0, -0.1, 0.3}) CHECK(same(hisq_border, epsilon));
  // Parts of four sites: these borders are even already.
  CHECK_FALSE(same({3, 3}, 0.0));
  CHECK_FALSE(same({4, 2}, 0.0));
  const Region region(lattice, part, hisq_border, {1, 1, 1, 1}, 1);
  CHECK_THROWS_AS(hisq_links(region, cut_out(gauge, region.fat), antiperiodic_in_time, 0), ShapeError);
}
