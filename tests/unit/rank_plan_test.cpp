// Blocks of a rank's slab and their owners: no thinner than allowed however many workers there are, CPUs beside GPUs, unlike ranks in one
// slab.
#include "apps/run/rank_plan.hpp"

#include "apps/run/config.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/solve_plan.hpp"
#include "tests/unit/error_testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace rank_plan_test {

using namespace quarkstar;
using namespace quarkstar::app;
using error_testing::message_of;
using runtime::mpi::PartLimits;

namespace {

constexpr int thick_wilson = 2, thick_far = 4;
const PartLimits near{}, far{.thinnest = 3};

std::vector<int> owners(const SlabBlocks& blocks, const RankOwners& rank) {
  std::vector<int> list;
  for (int i = 0; i < static_cast<int>(blocks.extents.size()); ++i) list.push_back(blocks.worker_of(i, rank));
  return list;
}

}  // namespace

TEST_CASE("a slab has blocks for its workers, fewer where it is thin") {
  const RankOwners eight{0, 8}, two{0, 2};
  CHECK(blocks_of_slab(4, {eight}, 0, thick_wilson, near).extents == std::vector{2, 2});
  CHECK(blocks_of_slab(1, {eight}, 0, thick_wilson, near).extents == std::vector{1});
  CHECK(blocks_of_slab(4, {two}, 0, thick_far, far).extents == std::vector{4});
  CHECK(blocks_of_slab(3, {two}, 0, thick_far, far).extents == std::vector{3});
  CHECK(blocks_of_slab(9, {two}, 0, thick_far, far).extents == std::vector{5, 4});
  CHECK(blocks_of_slab(12, {eight}, 0, thick_wilson, {.multiple = {1, 1, 1, 6}}).extents == std::vector{6, 6});
  CHECK(owners(blocks_of_slab(4, {eight}, 0, thick_wilson, near), eight) == std::vector{0, 4});
}

TEST_CASE("ranks of one slab have its blocks in common, each with owners of its own") {
  const RankOwners gpu{1, 2}, cpus{0, 4};
  const SlabBlocks blocks = blocks_of_slab(16, {gpu, cpus}, 0, thick_wilson, near);
  CHECK(blocks.extents == std::vector{4, 4, 4, 4});
  CHECK(owners(blocks, gpu) == std::vector{0, 0, 0, 0});
  CHECK(owners(blocks, cpus) == std::vector{0, 1, 2, 3});
}

TEST_CASE("CPUs beside GPUs own their share of a slab") {
  const RankOwners node{1, 2}, cpus{0, 3}, larger{2, 1};
  const SlabBlocks blocks = blocks_of_slab(32, {cpus, node, larger}, 0.25, thick_wilson, near);
  CHECK(blocks.extents == std::vector{24, 4, 4});
  CHECK(blocks.on_gpus == 1);
  CHECK(owners(blocks, node) == std::vector{0, 1, 2});
  CHECK(owners(blocks, cpus) == std::vector{0, 1, 2});
  CHECK(owners(blocks, larger) == std::vector{0, 2, 2});
  CHECK(blocks_of_slab(8, {{1, 1}}, 0.25, thick_wilson, near).extents == std::vector{6, 2});
  CHECK(blocks_of_slab(8, {{1, 1}}, 0.25, thick_far, far).extents == std::vector{5, 3});
  CHECK(blocks_of_slab(16, {{1, 1}}, 0.02, thick_far, far).extents == std::vector{13, 3});
  CHECK(blocks_of_slab(16, {cpus}, 0.25, thick_wilson, near).on_gpus == 0);
  CHECK(message_of([] { blocks_of_slab(4, {{1, 1}}, 0.5, thick_far, far); }).find("cpu-share: 4 sites in t") != std::string::npos);
}

TEST_CASE("weights of ranks as a setting") {
  const Setting* field = find_setting("rank-weights");
  REQUIRE(field != nullptr);
  RunConfig config;
  CHECK(field->get(config) == "auto");
  for (const std::string text : {"equal", "measured", "auto", "3,1.5"}) {
    field->set(config, text);
    CHECK(field->get(config) == text);
  }
  CHECK(config.rank_weights.given == std::vector{3.0, 1.5});
  for (const char* bad : {"", "3,0", "3,-1", "3;1", "fast", "1,,2"}) CHECK_THROWS_AS(field->set(config, bad), BadValue);
}

TEST_CASE("fewer levels of multigrid let more workers own blocks, and the most of them that do are named") {
  SolverSettings solver;
  const Coord lattice{32, 32, 32, 64};
  CHECK(!levels_for_more_owners(solver, lattice, lattice, 4, 8));  // no multigrid
  solver.solver = "multigrid";
  solver.multigrid.emplace().levels = 3;
  CHECK(whole_units(solver, lattice) == Coord{16, 8, 8, 8});
  solver.multigrid->levels = 0;  // four
  CHECK(whole_units(solver, lattice) == Coord{32, 16, 16, 16});
  CHECK(levels_for_more_owners(solver, lattice, lattice, 4, 8) == 3);
  CHECK(!levels_for_more_owners(solver, lattice, lattice, 8, 8));
  // A part of a rank: with units of 8 sites it has no more blocks.
  CHECK(levels_for_more_owners(solver, lattice, {32, 16, 16, 16}, 1, 8) == 3);
  CHECK(levels_for_more_owners(solver, lattice, {32, 16, 16, 16}, 2, 8) == 2);
  CHECK(!levels_for_more_owners(solver, lattice, {32, 16, 16, 16}, 4, 8));
  CHECK(fewer_levels(solver, lattice, [&](const SolverSettings& fewer) { return whole_units(fewer, lattice)[0] <= 8; }) == 2);
  CHECK(!fewer_levels(solver, lattice, [](const SolverSettings&) { return false; }));
  // With levels of few sites whole on every rank: 8^3 x 16 sites of the second level are too many.
  CHECK(least_units(solver, lattice) == Coord{16, 8, 8, 8});
  CHECK(least_units(solver, {16, 16, 16, 32}) == Coord{8, 4, 4, 4});
  solver.multigrid->levels = 2;
  CHECK(least_units(solver, lattice) == whole_units(solver, lattice));
}

}  // namespace rank_plan_test
