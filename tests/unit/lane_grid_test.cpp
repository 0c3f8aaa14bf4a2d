// Which directions are split over the lanes of a register.
#include "codelets/lattice/lane_grid.hpp"

#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace lane_grid_test {

using namespace quarkstar;
using runtime::Decomposition;

namespace {

/// The rule as its text says it, from the extents of all blocks.
LaneGrid expected_grid(const Decomposition& decomposition, Precision precision, int most_lanes) {
  std::vector<int> directions;
  for (int mu = 0; mu < 4; ++mu) {
    bool all = true;
    for (const runtime::Block& block : decomposition.blocks()) all &= block.extents[mu] % 4 == 0;
    if (all) directions.push_back(mu);
  }
  const std::vector<int> widths = precision == Precision::single ? std::vector<int>{16, 8, 1} : std::vector<int>{8, 4, 1};
  const auto room = [&](int width) { return width <= most_lanes && width <= 1 << directions.size(); };
  LaneGrid grid;
  grid.lanes = *std::find_if(widths.begin(), widths.end(), room);
  for (int stride = 1, i = 0; stride < grid.lanes; stride *= 2, ++i) grid.stride[directions[i]] = stride;
  return grid;
}

}  // namespace

TEST_CASE("lane grids of all small blocks follow the rule") {
  for (int code = 0; code < 5 * 5 * 5 * 5; ++code) {
    const Coord extents{2 + 2 * (code % 5), 2 + 2 * (code / 5 % 5), 2 + 2 * (code / 25 % 5), 2 + 2 * (code / 125)};
    const Decomposition decomposition(extents, {1, 1, 1, 1}, 1);
    for (const Precision precision : {Precision::single, Precision::double_})
      for (const int most : {16, 8, 4, 2, 1}) {
        INFO(decomposition.describe() << ", " << std::string(name_of(precision)) << ", at most " << most);
        CHECK(choose_lane_grid(decomposition, precision, {.most_lanes = most}) == expected_grid(decomposition, precision, most));
      }
  }
}

TEST_CASE("lane grids in the usual cases") {
  const auto grid = [](const Coord& lattice, Precision precision) {
    return choose_lane_grid(Decomposition(lattice, {1, 1, 1, 1}, 1), precision);
  };
  CHECK(grid({8, 8, 8, 8}, Precision::single) == LaneGrid{16, {1, 2, 4, 8}});
  CHECK(grid({8, 8, 8, 8}, Precision::double_) == LaneGrid{8, {1, 2, 4, 0}});
  CHECK(grid({6, 8, 8, 8}, Precision::double_) == LaneGrid{8, {0, 1, 2, 4}});
  CHECK(grid({6, 8, 6, 8}, Precision::double_) == LaneGrid{4, {0, 1, 0, 2}});
  CHECK(grid({6, 8, 6, 8}, Precision::single) == LaneGrid{1, {0, 0, 0, 0}});
  CHECK(grid({2, 2, 2, 4}, Precision::double_) == LaneGrid{1, {0, 0, 0, 0}});
}

TEST_CASE("lane grids fill as many bytes as the session says") {
  const auto lanes = [](Precision precision) { return choose_lane_grid(Decomposition({8, 8, 8, 8}, {1, 1, 1, 1}, 1), precision).lanes; };
  for (const int bytes : {64, 32}) {
    runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0, .lane_bytes = bytes});
    CHECK(session.lane_bytes() == bytes);
    CHECK(lanes(Precision::single) == bytes / 4);
    CHECK(lanes(Precision::half) == bytes / 4);
    CHECK(lanes(Precision::double_) == bytes / 8);
  }
  CHECK_THROWS_AS(runtime::Session({.cpu_workers = 1, .cuda_workers = 0, .lane_bytes = 16}), Error);
  CHECK(lanes(Precision::single) == 16);
}

TEST_CASE("one block that cannot be split in a direction keeps all blocks from it") {
  const std::array<std::vector<int>, 4> cuts{{{8}, {8}, {8}, {4, 8, 6}}};
  const Decomposition decomposition({8, 8, 8, 18}, cuts, {0, 0, 0});
  CHECK(choose_lane_grid(decomposition, Precision::single) == LaneGrid{8, {1, 2, 4, 0}});
  const Decomposition odd({8, 8, 8, 8}, std::array<std::vector<int>, 4>{{{8}, {3, 5}, {8}, {8}}}, {0, 0});
  CHECK(choose_lane_grid(odd, Precision::double_) == LaneGrid{8, {1, 0, 2, 4}});
}

TEST_CASE("halves of a block are whole units") {
  const Decomposition decomposition({16, 8, 8, 24}, {1, 1, 1, 1}, 1);
  const auto strides = [&](const Coord& unit, Precision precision) {
    return choose_lane_grid(decomposition, precision, {.unit = unit}).stride;
  };
  CHECK(strides({2, 2, 2, 2}, Precision::single) == std::array<int, 4>{1, 2, 4, 8});
  CHECK(strides({4, 4, 4, 4}, Precision::single) == std::array<int, 4>{1, 2, 4, 8});
  CHECK(strides({8, 4, 8, 6}, Precision::single) == std::array<int, 4>{1, 2, 0, 4});
  CHECK(strides({8, 4, 8, 8}, Precision::double_) == std::array<int, 4>{1, 2, 0, 0});
  CHECK(strides({16, 8, 8, 24}, Precision::single) == std::array<int, 4>{0, 0, 0, 0});
}

}  // namespace lane_grid_test
