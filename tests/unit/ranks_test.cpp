// How ranks share a lattice: the chosen grid, parts that cover every site once, blocks and boxes of each rank, cores of a host.
#include "apps/command/machine_ranks.hpp"
#include "codelets/io/gauge_part.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/mpi/rank_grid.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/topology.hpp"
#include "tests/unit/error_testing.hpp"

#include <doctest/doctest.h>

#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ranks_test {

using namespace quarkstar;
using namespace quarkstar::runtime;

using error_testing::message_of;

namespace {

bool contains(const Box& box, const Coord& site) {
  for (int mu = 0; mu < 4; ++mu)
    if (site[mu] < box.origin[mu] || site[mu] >= box.origin[mu] + box.extents[mu]) return false;
  return true;
}

}  // namespace

TEST_CASE("the grid of ranks has the smallest surface") {
  CHECK(mpi::choose_rank_grid({8, 8, 8, 8}, 1) == Coord{1, 1, 1, 1});
  CHECK(mpi::choose_rank_grid({8, 8, 8, 8}, 2) == Coord{1, 1, 1, 2});
  // {2, 2, 2, 2} has the same surface, but cuts x and y too.
  CHECK(mpi::choose_rank_grid({16, 16, 16, 16}, 16) == Coord{1, 1, 4, 4});
  CHECK(mpi::choose_rank_grid({8, 8, 8, 64}, 8) == Coord{1, 1, 1, 8});
  CHECK(mpi::choose_rank_grid({64, 8, 8, 8}, 8) == Coord{8, 1, 1, 1});
  CHECK(mpi::choose_rank_grid({32, 32, 32, 32}, 1024) == Coord{4, 4, 8, 8});
  CHECK(mpi::choose_rank_grid({8, 8, 8, 8}, 4, 4) == Coord{1, 1, 2, 2});
  CHECK(mpi::choose_rank_grid({4, 4, 4, 16}, 4, 4) == Coord{1, 1, 1, 4});
  CHECK(message_of([] {
          mpi::choose_rank_grid({4, 4, 4, 8}, 4, 4);
        }).find("4 ranks are too many for a lattice of 4x4x4x8: parts have 4x4x4x4 sites") != std::string::npos);
  const std::string message = message_of([] { mpi::choose_rank_grid({4, 4, 4, 4}, 7); });
  CHECK(message.find("ranks: ") != std::string::npos);
  CHECK(message.find("7 ranks") != std::string::npos);
}

TEST_CASE("slabs follow the speed of their slowest rank") {
  const std::vector<double> equal(4, 100.0), nearly{100, 105, 100, 98}, mixed{3000, 3000, 1000, 3000};
  CHECK(mpi::make_rank_grid({8, 8, 8, 32}, {}, equal, 0).slabs[3] == std::vector{8, 8, 8, 8});
  CHECK(mpi::make_rank_grid({8, 8, 8, 32}, {}, nearly, 0).slabs[3] == std::vector{8, 8, 8, 8});
  const RankGrid grid = mpi::make_rank_grid({8, 8, 8, 40}, Coord{1, 1, 1, 4}, mixed, 2);
  CHECK(grid.rank == 2);
  const Decomposition decomposition({8, 8, 8, 40}, grid, {1, 1, 1, 1}, 1);
  CHECK(decomposition.part_of(0).extents == Coord{8, 8, 8, 12});
  CHECK(decomposition.part().extents == Coord{8, 8, 8, 4});
  CHECK(decomposition.describe() == "8x8x8x40 in 1x1x1x4 blocks on 1x1x1x4 ranks (t 12+12+4+12)");
  CHECK(message_of([&] { mpi::make_rank_grid({8, 8, 8, 8}, Coord{1, 1, 1, 3}, equal, 0); }).find("4 were started") != std::string::npos);
}

TEST_CASE("unequal ranks: every direction that is cut follows, and no part is thinner than a hop") {
  using Speeds = std::vector<double>;
  using Slabs = std::array<std::vector<int>, 4>;
  const auto slabs = [](const Coord& lattice, const std::optional<Coord>& wanted, const Speeds& speeds,
                        const mpi::PartLimits& limits = {}) { return mpi::make_rank_grid(lattice, wanted, speeds, 0, limits).slabs; };
  const mpi::PartLimits far{.thinnest = 3};
  CHECK(slabs({4, 4, 4, 8}, {}, {3, 1}) == Slabs{{{4}, {4}, {4}, {6, 2}}});
  // Ranks count x fastest: 0 and 1 share a slab of t.
  CHECK(slabs({8, 8, 8, 16}, Coord{1, 1, 2, 2}, {3, 1, 3, 1}) == Slabs{{{8}, {8}, {6, 2}, {8, 8}}});
  CHECK(slabs({8, 8, 8, 16}, Coord{1, 1, 2, 2}, {1, 2, 3, 6}) == Slabs{{{8}, {8}, {2, 6}, {4, 12}}});
  CHECK(slabs({8, 8, 8, 16}, Coord{2, 1, 2, 1}, {1, 2, 3, 6}) == Slabs{{{2, 6}, {8}, {2, 6}, {16}}});
  // Parts along x stay even.
  CHECK(slabs({8, 4, 4, 4}, Coord{2, 1, 1, 1}, {100, 1}) == Slabs{{{6, 2}, {4}, {4}, {4}}});
  // A GPU node and a CPU node.
  CHECK(slabs({32, 32, 32, 64}, {}, {3000, 160}) == Slabs{{{32}, {32}, {32}, {62, 2}}});
  CHECK(slabs({32, 32, 32, 64}, {}, {3000, 160}, far) == Slabs{{{32}, {32}, {32}, {61, 3}}});
  CHECK(slabs({8, 4, 8, 8}, {}, {7, 1}, far)[3] == std::vector{5, 3});
  CHECK(slabs({8, 4, 8, 6}, Coord{1, 1, 1, 2}, {1, 1}, far)[3] == std::vector{3, 3});
  // Four ranks in t give the fast ones what is theirs; two by two would not.
  CHECK(slabs({32, 32, 32, 64}, {}, {3000, 3000, 1000, 1000}) == Slabs{{{32}, {32}, {32}, {24, 24, 8, 8}}});
  // Domains of a preconditioner stay whole, also with equal ranks.
  CHECK(slabs({8, 8, 8, 24}, {}, {2, 1}, {.multiple = {4, 4, 4, 6}})[3] == std::vector{18, 6});
  CHECK(slabs({8, 8, 8, 12}, {}, {1, 1}, {.multiple = {4, 4, 4, 6}})[3] == std::vector{6, 6});
  const std::string message = message_of([&] { slabs({4, 4, 4, 8}, Coord{1, 1, 1, 4}, {1, 1, 1, 1}, far); });
  CHECK(message.find("ranks: cannot cut t = 8 into 4 parts of 3 sites or more; use at most 2 parts in t") != std::string::npos);
  CHECK(message_of([&] { slabs({4, 4, 4, 8}, {}, {4, 3, 2, 1}, far); }).find("4 ranks are too many") != std::string::npos);
}

TEST_CASE("slabs of ranks may have different numbers of blocks") {
  const Coord lattice{8, 4, 6, 10};
  const SlabCuts cuts{{{{8}}, {{4}}, {{2, 2}, {2}}, {{3, 2, 2}, {3}}}};
  std::set<int> seen;
  for (int rank = 0; rank < 4; ++rank) {
    const Decomposition view(lattice, cuts, rank, [](const Coord& position) { return position[3]; });
    CHECK(view.grid() == Coord{1, 1, 3, 4});
    CHECK(view.ranks() == Coord{1, 1, 2, 2});
    CHECK(view.most_blocks_of_a_rank() == 6);
    CHECK(view.local().size() == (rank % 2 == 0 ? 2U : 1U) * (rank < 2 ? 3U : 1U));
    CHECK(view.part().origin == Coord{0, 0, rank % 2 == 0 ? 0 : 4, rank < 2 ? 0 : 7});
    CHECK(view.part().extents == Coord{8, 4, rank % 2 == 0 ? 4 : 2, rank < 2 ? 7 : 3});
    for (std::size_t i = 0; i < view.local().size(); ++i) {
      const Block& block = view.block(view.local()[i]);
      CHECK(seen.insert(block.index).second);
      CHECK(view.local_index(block.index) == static_cast<int>(i));
      CHECK(block.owner == (rank < 2 ? block.position[3] : 0));
      // Neighbours across every face are where the extents say.
      for (int d = 0; d < 8; ++d) {
        const Block& next = view.block(view.neighbour(block.index, d));
        const int mu = d / 2, edge = d % 2 == 0 ? block.origin[mu] + block.extents[mu] : next.origin[mu] + next.extents[mu];
        CHECK(edge % lattice[mu] == (d % 2 == 0 ? next.origin[mu] : block.origin[mu]));
      }
    }
  }
  CHECK(seen.size() == 12);
}

TEST_CASE("every site belongs to one rank, and every rank sees the same blocks") {
  struct Sample {
    Coord lattice, ranks, blocks;
  };
  for (const Sample& sample : {Sample{{8, 4, 6, 10}, {1, 1, 1, 3}, {1, 1, 1, 1}}, Sample{{8, 4, 6, 10}, {2, 1, 3, 2}, {1, 2, 1, 2}},
                               Sample{{4, 4, 4, 8}, {1, 1, 1, 8}, {2, 2, 2, 1}}}) {
    const auto ranks = static_cast<int>(volume(sample.ranks));
    std::vector<Decomposition> views;
    for (int rank = 0; rank < ranks; ++rank) views.emplace_back(sample.lattice, RankGrid{sample.ranks, rank, {}}, sample.blocks, 2);
    for (std::int64_t i = 0; i < volume(sample.lattice); ++i) {
      const Coord site = coordinates(i, sample.lattice);
      int owners = 0;
      for (const Decomposition& view : views) owners += contains(view.part(), site) ? 1 : 0;
      CHECK(owners == 1);
    }
    std::set<int> seen;
    for (const Decomposition& view : views) {
      CHECK(view.local().size() == static_cast<std::size_t>(volume(sample.blocks)));
      std::int64_t sites = 0;
      for (std::size_t i = 0; i < view.local().size(); ++i) {
        const Block& block = view.block(view.local()[i]);
        CHECK(seen.insert(block.index).second);
        CHECK(view.local_index(block.index) == static_cast<int>(i));
        CHECK(block.rank == view.rank());
        CHECK(block.owner >= 0);
        CHECK(block.owner < 2);
        sites += volume(block.extents);
        for (const Decomposition& other : views) {
          CHECK(other.block(block.index).origin == block.origin);
          CHECK(other.block(block.index).extents == block.extents);
          CHECK(other.block(block.index).rank == block.rank);
          CHECK(other.local_index(block.index) == view.local_index(block.index));
        }
      }
      CHECK(sites == volume(view.part().extents));
    }
    CHECK(seen.size() == views.front().blocks().size());
  }
  CHECK(message_of([] {
          Decomposition({4, 4, 4, 4}, RankGrid{{1, 1, 1, 5}, 0, {}}, {1, 1, 1, 1}, 1);
        }).find("ranks: ") != std::string::npos);
}

TEST_CASE("a part with its border holds every neighbour, over the lattice's edges too") {
  const Coord lattice{8, 4, 6, 10};
  for (const Coord& grid : {Coord{1, 1, 1, 1}, Coord{2, 1, 3, 2}, Coord{1, 2, 1, 5}, Coord{4, 1, 1, 1}})
    for (int rank = 0; rank < volume(grid); ++rank) {
      const Decomposition view(lattice, RankGrid{grid, rank, {}}, {1, 1, 1, 1}, 1);
      const Box box = format::box_with_border(view), part = view.part();
      for (int mu = 0; mu < 4; ++mu) CHECK(box.extents[mu] <= lattice[mu]);
      std::set<std::int64_t> places;
      for (std::int64_t i = 0; i < volume(part.extents); ++i) {
        Coord site = coordinates(i, part.extents);
        for (int mu = 0; mu < 4; ++mu) site[mu] += part.origin[mu];
        CHECK(places.insert(index_in(box, site, lattice)).second);
        for (int d = 0; d < 8; ++d) {
          Coord next = site;
          next[d / 2] = (next[d / 2] + (d % 2 == 0 ? 1 : lattice[d / 2] - 1)) % lattice[d / 2];
          for (int mu = 0; mu < 4; ++mu) CHECK((next[mu] - box.origin[mu] + lattice[mu]) % lattice[mu] < box.extents[mu]);
        }
      }
    }
}

TEST_CASE("processes that share cores divide them") {
  const Topology whole = Topology::discover();
  for (const int count : {1, 2, whole.cores()}) {
    std::set<int> seen;
    if (count > whole.cores()) continue;
    for (int index = 0; index < count; ++index) {
      const Topology share = whole.share(index, count);  // outlives the loop over its domains
      for (const Domain& domain : share.domains())
        for (const int core : domain.cores) CHECK(seen.insert(core).second);
    }
    CHECK(static_cast<int>(seen.size()) == whole.cores());
  }
  for (int index = 0; index < 3 * whole.cores(); ++index) CHECK(whole.share(index, 3 * whole.cores()).cores() == 1);
}

TEST_CASE("faces that arrive wrong name sender, reader and direction") {
  const mpi::Job& job = mpi::Job::current();
  const std::string name = job.name_of(0);
  CHECK(quarkstar::app::describe_damage(job, {{0, 0, 7, 17}}) ==
        "arrived wrong: 17 values of faces that " + name + " reads in -t from " + name);
  const std::string many = quarkstar::app::describe_damage(job, std::vector<mpi::FaceDamage>(11, {0, 0, 0, 1}));
  CHECK(many.ends_with("reads in +x from " + name + "; and 3 more"));
}

}  // namespace ranks_test
