// How a lattice is cut into blocks: every site once, neighbours that are neighbours, and errors that name the
// direction.
#include "runtime/cut/decomposition.hpp"

#include "runtime/system/error.hpp"
#include "tests/unit/error_testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace decomposition_test {

using namespace quarkstar;
using runtime::Block;
using runtime::Decomposition;
using Cuts = std::array<std::vector<int>, 4>;

using error_testing::message_of;

namespace {

const std::string name[] = {"x", "y", "z", "t"};

std::vector<Decomposition> samples() {
  std::vector<Decomposition> list;
  for (const Coord& lattice : {Coord{2, 2, 2, 2}, Coord{4, 4, 4, 4}, Coord{8, 4, 6, 10}, Coord{12, 6, 2, 16}})
    for (const Coord& grid : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}, Coord{1, 2, 1, 1}, Coord{1, 2, 2, 2}})
      list.emplace_back(lattice, grid, 2);
  list.emplace_back(Coord{12, 6, 4, 14}, Coord{3, 3, 4, 5}, 7);
  list.emplace_back(Coord{8, 6, 4, 10}, Cuts{{{2, 6}, {1, 5}, {3, 1}, {4, 1, 2, 3}}}, std::vector<int>(32, 0));
  return list;
}

bool contains(const Block& block, const Coord& site) {
  for (int mu = 0; mu < 4; ++mu)
    if (site[mu] < block.origin[mu] || site[mu] >= block.origin[mu] + block.extents[mu]) return false;
  return true;
}

/// The one block that has the site; -1 when there is none or several.
int owner_of_site(const Decomposition& decomposition, const Coord& site) {
  int found = -1;
  for (const Block& block : decomposition.blocks())
    if (contains(block, site)) {
      if (found >= 0) return -1;
      found = block.index;
    }
  return found;
}

/// Of all cuts of these parts into that many ranges or fewer, the least that the largest range holds: tried one by one.
int least_of_ranges(std::span<const int> parts, int ranges) {
  if (ranges == 1 || parts.empty()) return std::accumulate(parts.begin(), parts.end(), 0);
  int least = std::accumulate(parts.begin(), parts.end(), 0), first = 0;
  for (std::size_t end = 1; end <= parts.size(); ++end) {
    first += parts[end - 1];
    if (first >= least) break;
    least = std::min(least, std::max(first, least_of_ranges(parts.subspan(end), ranges - 1)));
  }
  return least;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("blocks cover the lattice once") {
  for (const Decomposition& d : samples()) {
    INFO(d.describe());
    CHECK(d.count() == volume(d.grid()));
    bool each_once = true;
    for (std::int64_t i = 0; i < volume(d.lattice()); ++i) each_once &= owner_of_site(d, coordinates(i, d.lattice())) >= 0;
    CHECK(each_once);
    for (int b = 0; b < d.count(); ++b) {
      CHECK(d.block(b).index == b);
      CHECK(lexicographic(d.block(b).position, d.grid()) == b);
      CHECK(d.block(b).extents[0] % 2 == 0);
      for (int mu = 0; mu < 4; ++mu) {
        CHECK(d.block(b).extents[mu] >= 1);
        CHECK(d.is_cut(mu) == (d.grid()[mu] > 1));
      }
    }
  }
}

TEST_CASE("a neighbour is the block that a hop across the face reaches") {
  for (const Decomposition& d : samples()) {
    INFO(d.describe());
    for (const Block& block : d.blocks())
      for (int direction = 0; direction < 8; ++direction) {
        const int mu = direction / 2;
        Coord site = block.origin;
        site[mu] += direction % 2 == 0 ? block.extents[mu] : d.lattice()[mu] - 1;
        site[mu] %= d.lattice()[mu];
        CHECK(d.neighbour(block.index, direction) == owner_of_site(d, site));
        CHECK(d.neighbour(d.neighbour(block.index, direction), direction ^ 1) == block.index);
      }
  }
}

TEST_CASE("parts are nearly equal, in the coarsest unit that goes round") {
  const auto parts = [](int extent, int count) {
    const Decomposition d({2, 2, 2, extent}, {1, 1, 1, count}, 1);
    std::vector<int> found;
    for (const Block& block : d.blocks()) found.push_back(block.extents[3]);
    return found;
  };
  CHECK(parts(16, 1) == std::vector<int>{16});
  CHECK(parts(16, 2) == std::vector<int>{8, 8});
  CHECK(parts(16, 3) == std::vector<int>{8, 4, 4});
  CHECK(parts(12, 5) == std::vector<int>{4, 2, 2, 2, 2});
  CHECK(parts(6, 4) == std::vector<int>{2, 2, 1, 1});
  CHECK(parts(6, 6) == std::vector<int>(6, 1));
  for (int extent = 2; extent <= 40; extent += 2)
    for (int count = 1; count <= extent; ++count) {
      const std::vector<int> found = parts(extent, count);
      const auto [least, most] = std::minmax_element(found.begin(), found.end());
      CHECK(*most - *least <= 4);
    }
}

TEST_CASE("consecutive blocks go to consecutive workers, evenly") {
  for (int workers = 1; workers <= 7; ++workers)
    for (int blocks = 1; blocks <= 16; ++blocks) {
      INFO(blocks << " blocks, " << workers << " workers");
      const Decomposition d({2, 2, 2, 16}, {1, 1, 1, blocks}, workers);
      std::vector<int> load(static_cast<std::size_t>(workers), 0), number = load;
      int previous = 0;
      for (const Block& block : d.blocks()) {
        REQUIRE(block.owner >= previous);
        REQUIRE(block.owner < workers);
        previous = block.owner;
        load[static_cast<std::size_t>(block.owner)] += block.extents[3];
        ++number[static_cast<std::size_t>(block.owner)];
      }
      std::vector<int> thickness;
      for (const Block& block : d.blocks()) thickness.push_back(block.extents[3]);
      CHECK(*std::max_element(load.begin(), load.end()) == least_of_ranges(thickness, workers));
      if (blocks >= workers) CHECK(*std::min_element(number.begin(), number.end()) >= 1);
      if (16 % blocks == 0)
        for (const Block& block : d.blocks()) CHECK(block.owner == block.index * workers / blocks);
    }
  const auto owners = [](int extent, int blocks) {
    std::vector<int> found;
    const Decomposition cut({2, 2, 2, extent}, {1, 1, 1, blocks}, 2);
    for (const Block& block : cut.blocks()) found.push_back(block.owner);
    return found;
  };
  CHECK(owners(16, 3) == std::vector<int>{0, 1, 1});        // 8, 4, 4
  CHECK(owners(24, 4) == std::vector<int>{0, 0, 1, 1});     // 8, 8, 4, 4: 16 and 8, or 8 and 16
  CHECK(owners(28, 5) == std::vector<int>{0, 0, 1, 1, 1});  // 8, 8, 4, 4, 4
  const runtime::SlabCuts ranks{{{{2}}, {{2}}, {{2}}, {{8, 4, 4}, {4, 4}}}};
  const Decomposition first({2, 2, 2, 24}, ranks, 0, 2), second({2, 2, 2, 24}, ranks, 1, 2);
  CHECK(first.block(1).owner == 1);
  CHECK(first.block(2).owner == 1);
  CHECK(second.block(3).owner == 0);
  CHECK(second.block(4).owner == 1);
  const Decomposition given({4, 2, 2, 4}, Cuts{{{4}, {2}, {2}, {3, 1}}}, {5, 3});
  CHECK(given.block(0).owner == 5);
  CHECK(given.block(1).owner == 3);
  CHECK(given.block(1).origin == Coord{0, 0, 0, 3});
}

TEST_CASE("a cut that cannot be made names its direction") {
  for (int mu = 0; mu < 4; ++mu) {
    INFO(name[mu]);
    Coord grid{1, 1, 1, 1}, lattice{8, 8, 8, 8};
    for (const int wrong : {0, -3}) {
      grid[mu] = wrong;
      CHECK(has(message_of([&] { Decomposition(lattice, grid, 1); }), "blocks in " + name[mu]));
    }
    grid[mu] = 9;
    const std::string most = message_of([&] { Decomposition(lattice, grid, 1); });
    CHECK(has(most, "cannot cut " + name[mu] + " = 8 into 9 parts"));
    CHECK(has(most, mu == 0 ? "use at most 4 parts in x" : "use at most 8 parts in " + name[mu]));
    for (const int extent : {7, 1, 0, -2}) {
      lattice[mu] = extent;
      const std::string expected = "extent " + name[mu] + " = " + std::to_string(extent);
      CHECK(has(message_of([&] { Decomposition(lattice, {1, 1, 1, 1}, 1); }), expected));
      Cuts cuts;
      for (int nu = 0; nu < 4; ++nu) cuts[nu] = {lattice[nu]};
      CHECK(has(message_of([&] { Decomposition(lattice, cuts, {0}); }), expected));
    }
  }
}

TEST_CASE("parts that do not fit name their direction") {
  const Coord lattice{8, 8, 8, 8};
  for (int mu = 0; mu < 4; ++mu) {
    INFO(name[mu]);
    const auto with = [&](std::vector<int> parts) {
      Cuts cuts{{{8}, {8}, {8}, {8}}};
      const std::size_t blocks = parts.size();
      cuts[mu] = std::move(parts);
      return message_of([&] { Decomposition(lattice, cuts, std::vector<int>(blocks, 0)); });
    };
    CHECK(has(with({4, 2}), "extents 4+2 along " + name[mu] + " do not sum to 8"));
    CHECK(has(with({4, 0, 4}), "extent 0 along " + name[mu]));
    CHECK(has(with({10, -2}), "extent -2 along " + name[mu]));
    CHECK(with({5, 3}) == (mu == 0 ? with({5, 3}) : "no error"));
  }
  CHECK(has(message_of([&] { Decomposition(lattice, Cuts{{{5, 3}, {8}, {8}, {8}}}, {0, 0}); }), "extent 5 along x"));
  CHECK_THROWS_AS(Decomposition(lattice, Cuts{{{8}, {8}, {8}, {4, 4}}}, {0}), ShapeError);
}

TEST_CASE("a decomposition describes itself") {
  CHECK(Decomposition({8, 8, 8, 16}, {1, 1, 1, 2}, 1).describe() == "8x8x8x16 in 1x1x1x2 blocks");
}

TEST_CASE("a lattice over which sums would not be exact is refused") {
  const Decomposition large({192, 192, 192, 384}, {1, 1, 1, 8}, 8);  // more than 2^30 sites of a parity
  CHECK(volume(large.lattice()) == 2717908992);
  CHECK(message_of([] {
          Decomposition({256, 256, 256, 256}, {1, 1, 1, 8}, 8);
        }).find("lattice: 256x256x256x256 has more than the 4294967295 sites over which sums are exact") != std::string::npos);
  constexpr int huge = 2147483646;  // a number of sites that is 0 in 64 bits would pass
  CHECK(message_of([] { Decomposition({huge, huge, huge, huge}, {1, 1, 1, 1}, 1); }).find("lattice: ") != std::string::npos);
}

}  // namespace decomposition_test
