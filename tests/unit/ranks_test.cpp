// How ranks share a lattice: the chosen grid, parts that cover every site once, blocks and boxes of each rank, cores of a host.
#include "codelets/lattice/format/gauge_part.hpp"
#include "runtime/decomposition.hpp"
#include "runtime/error.hpp"
#include "runtime/mpi/rank_grid.hpp"
#include "runtime/topology.hpp"
#include "tests/unit/error_testing.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

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
  CHECK(message_of([] { mpi::choose_rank_grid({4, 4, 4, 8}, 4, 4); }).find("4 ranks") != std::string::npos);
  const std::string message = message_of([] { mpi::choose_rank_grid({4, 4, 4, 4}, 7); });
  CHECK(message.find("--ranks") != std::string::npos);
  CHECK(message.find("7 ranks") != std::string::npos);
}

TEST_CASE("slabs follow the bandwidth of their slowest rank") {
  const std::vector<double> equal(4, 100.0), nearly{100, 105, 100, 98}, mixed{3000, 3000, 1000, 3000};
  CHECK(mpi::make_rank_grid({8, 8, 8, 32}, {}, equal, 0).weights[3].empty());
  CHECK(mpi::make_rank_grid({8, 8, 8, 32}, {}, nearly, 0).weights[3].empty());
  const RankGrid grid = mpi::make_rank_grid({8, 8, 8, 40}, Coord{1, 1, 1, 4}, mixed, 2);
  CHECK(grid.rank == 2);
  const Decomposition decomposition({8, 8, 8, 40}, grid, {1, 1, 1, 1}, 1);
  CHECK(decomposition.part_of(0).extents == Coord{8, 8, 8, 12});
  CHECK(decomposition.part().extents == Coord{8, 8, 8, 4});
  CHECK(message_of([&] { mpi::make_rank_grid({8, 8, 8, 8}, Coord{1, 1, 1, 3}, equal, 0); }).find("4 were started") != std::string::npos);
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
  CHECK(message_of([] { Decomposition({4, 4, 4, 4}, RankGrid{{1, 1, 1, 5}, 0, {}}, {1, 1, 1, 1}, 1); }).find("--ranks") != std::string::npos);
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
