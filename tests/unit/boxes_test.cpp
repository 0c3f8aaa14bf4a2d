// The boxes of sites that ranks read and keep: a part of the lattice and layers around it.
#include "codelets/lattice/boxes.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <vector>

namespace boxes_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 20261122;

/// Site number i of a box, inside the lattice.
Coord site_of(const Box& box, std::int64_t i, const Coord& lattice) {
  Coord site = coordinates(i, box.extents);
  for (int mu = 0; mu < 4; ++mu) site[mu] = (site[mu] + box.origin[mu]) % lattice[mu];
  return site;
}

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

}  // namespace boxes_test
