#include "runtime/cut/decomposition.hpp"

#include "runtime/cut/proportional_cut.hpp"
#include "runtime/graph/sum_capacity.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace quarkstar::runtime {
namespace {

constexpr char direction_name[] = {'x', 'y', 'z', 't'};

/// Nearly equal parts of an extent.
std::vector<int> share(Parameter parameter, int mu, int extent, int parts) {
  const int least = mu == 0 ? 2 : 1;  // parity wants even x
  std::vector<int> cuts = parts_for_all(extent, std::vector<double>(static_cast<std::size_t>(parts), 1.0), 1, least);
  if (cuts.empty())
    throw Error(ErrorKind::input, parameter, fmt::format("cannot cut {} = {} into {} parts", direction_name[mu], extent, parts),
                fmt::format("use at most {} parts in {}", extent / least, direction_name[mu]));
  return cuts;
}

/// The cuts of a lattice that one rank has.
SlabCuts of_one_rank(const std::array<std::vector<int>, 4>& cuts) { return {{{cuts[0]}, {cuts[1]}, {cuts[2]}, {cuts[3]}}}; }

/// Even extents, and no more sites than an exact sum holds.
void require_fit(const Coord& lattice) {
  for (int mu = 0; mu < 4; ++mu)
    if (lattice[mu] < 2 || lattice[mu] % 2 != 0)
      throw Error(ErrorKind::input, Parameter("lattice"),
                  fmt::format("extent {} = {} is not a positive even number", direction_name[mu], lattice[mu]),
                  "even-odd preconditioning needs even extents in every direction");
  // Extents are below 2^31 each: their product may not fit into 64 bits.
  std::int64_t sites = 1;
  for (const int extent : lattice) sites = sites > most_summands ? sites : sites * extent;
  if (sites > most_summands)
    throw Error(ErrorKind::input, Parameter("lattice"),
                fmt::format("{} has more than the {} sites over which sums are exact", fmt::join(lattice, "x"), most_summands),
                "use a smaller lattice");
}

}  // namespace

Decomposition::Decomposition(const Coord& lattice, const Coord& grid, int workers) : lattice_(lattice) {
  require_fit(lattice);
  std::array<std::vector<int>, 4> cuts;
  for (int mu = 0; mu < 4; ++mu) {
    if (grid[mu] < 1)
      throw Error(ErrorKind::input, Parameter("blocks"), fmt::format("{} blocks in {}", grid[mu], direction_name[mu]),
                  "give four positive numbers, e.g. 1,1,1,2");
    cuts[mu] = share(Parameter("blocks"), mu, lattice[mu], grid[mu]);
  }
  build(of_one_rank(cuts));
  give_to_consecutive(workers);
}

Decomposition::Decomposition(const Coord& lattice, const RankGrid& ranks, const Coord& blocks_a_rank, int workers)
    : lattice_(lattice), ranks_(ranks.grid), rank_(ranks.rank) {
  require_fit(lattice);
  SlabCuts cuts;
  for (int mu = 0; mu < 4; ++mu) {
    const auto direction = static_cast<std::size_t>(mu);
    const std::vector<int>& given = ranks.slabs[direction];
    for (const int slab : given.empty() ? share(Parameter("ranks"), mu, lattice[mu], ranks.grid[mu]) : given)
      cuts[direction].push_back(share(Parameter("blocks"), mu, slab, blocks_a_rank[mu]));
  }
  build(cuts);
  give_to_consecutive(workers);
}

Decomposition::Decomposition(const Coord& lattice, const SlabCuts& cuts, int rank,
                             const std::function<int(const Coord& position)>& worker_of)
    : lattice_(lattice), rank_(rank) {
  require_fit(lattice);
  for (std::size_t mu = 0; mu < 4; ++mu) ranks_[mu] = static_cast<int>(cuts[mu].size());
  build(cuts);
  const Coord first = block(local_.front()).position;
  for (const int b : local_) {
    Block& block = blocks_[static_cast<std::size_t>(b)];
    Coord position = block.position;
    for (std::size_t mu = 0; mu < 4; ++mu) position[mu] -= first[mu];
    block.owner = worker_of(position);
  }
}

Decomposition::Decomposition(const Coord& lattice, const SlabCuts& cuts, int rank, int workers)
    : Decomposition(lattice, cuts, rank, [](const Coord&) { return 0; }) {
  give_to_consecutive(workers);
}

void Decomposition::give_to_consecutive(int workers) {
  std::vector<std::int64_t> sites;
  for (const int b : local_) sites.push_back(volume(block(b).extents));
  const std::vector<int> owners = contiguous_owners(sites, workers);
  for (std::size_t i = 0; i < local_.size(); ++i) blocks_[static_cast<std::size_t>(local_[i])].owner = owners[i];
}

Decomposition::Decomposition(const Coord& lattice, const std::array<std::vector<int>, 4>& cuts, std::vector<int> owners)
    : lattice_(lattice) {
  require_fit(lattice);
  build(of_one_rank(cuts));
  if (owners.size() != blocks_.size())
    throw ShapeError("Decomposition", fmt::format("{} owners for {} blocks", owners.size(), blocks_.size()));
  for (Block& block : blocks_) block.owner = owners[static_cast<std::size_t>(block.index)];
}

int Decomposition::first_owner() const {
  int first = block(local_.front()).owner;
  for (const int b : local_) first = std::min(first, block(b).owner);
  return first;
}

Decomposition Decomposition::uncut(const Coord& lattice, int owner) {
  const std::array<std::vector<int>, 4> cuts{std::vector{lattice[0]}, std::vector{lattice[1]}, std::vector{lattice[2]},
                                             std::vector{lattice[3]}};
  return Decomposition(lattice, cuts, {owner});
}

void Decomposition::build(const SlabCuts& slabs) {
  std::array<std::vector<int>, 4> cuts, slab_of;  // of all ranks, one after the other
  for (int mu = 0; mu < 4; ++mu) {
    const auto direction = static_cast<std::size_t>(mu);
    for (std::size_t slab = 0; slab < slabs[direction].size(); ++slab)
      for (const int part : slabs[direction][slab]) {
        cuts[direction].push_back(part);
        slab_of[direction].push_back(static_cast<int>(slab));
      }
    if (std::accumulate(cuts[mu].begin(), cuts[mu].end(), 0) != lattice_[mu])
      throw Error(ErrorKind::input, Parameter("blocks"),
                  fmt::format("extents {} along {} do not sum to {}", fmt::join(cuts[mu], "+"), direction_name[mu], lattice_[mu]),
                  "give parts that cover the lattice");
    for (const int part : cuts[mu])
      if (part < 1 || (mu == 0 && part % 2 != 0))
        throw Error(ErrorKind::input, Parameter("blocks"), fmt::format("a block of extent {} along {}", part, direction_name[mu]),
                    "blocks need positive extents, even ones along x");
    grid_[mu] = static_cast<int>(cuts[mu].size());
  }
  const auto count = static_cast<std::size_t>(volume(grid_));
  for (std::size_t b = 0; b < count; ++b) {
    Block block;
    block.index = static_cast<int>(b);
    block.position = coordinates(static_cast<std::int64_t>(b), grid_);
    Coord rank{};
    for (int mu = 0; mu < 4; ++mu) {
      const auto part = static_cast<std::size_t>(block.position[mu]);
      block.extents[mu] = cuts[mu][part];
      block.origin[mu] = std::accumulate(cuts[mu].begin(), cuts[mu].begin() + block.position[mu], 0);
      rank[mu] = slab_of[mu][part];
    }
    block.rank = static_cast<int>(lexicographic(rank, ranks_));
    blocks_.push_back(block);
  }
  std::vector<int> counts(static_cast<std::size_t>(volume(ranks_)), 0);
  for (const Block& block : blocks_) {
    local_index_.push_back(counts[static_cast<std::size_t>(block.rank)]++);
    if (block.rank == rank_) local_.push_back(block.index);
  }
  most_blocks_of_a_rank_ = *std::max_element(counts.begin(), counts.end());
}

Box Decomposition::part_of(int rank) const {
  // Blocks are lexicographic: a rank's first one has the lowest corner, its last one the highest.
  const Block *first = nullptr, *last = nullptr;
  for (const Block& block : blocks_)
    if (block.rank == rank) {
      if (first == nullptr) first = &block;
      last = &block;
    }
  Box box{first->origin, {}};
  for (int mu = 0; mu < 4; ++mu) box.extents[mu] = last->origin[mu] + last->extents[mu] - first->origin[mu];
  return box;
}

int Decomposition::neighbour(int block, int direction) const {
  Coord position = blocks_[static_cast<std::size_t>(block)].position;
  const int mu = direction / 2;
  position[mu] = (position[mu] + (direction % 2 == 0 ? 1 : grid_[mu] - 1)) % grid_[mu];
  return static_cast<int>(lexicographic(position, grid_));
}

std::string Decomposition::describe() const {
  std::string text = fmt::format("{} in {} blocks", fmt::join(lattice_, "x"), fmt::join(grid_, "x"));
  if (!is_distributed()) return text;
  text += fmt::format(" on {} ranks", fmt::join(ranks_, "x"));
  std::string unequal;
  for (int mu = 3; mu >= 0; --mu) {
    std::vector<int> slabs;
    for (int rank = 0; rank < volume(ranks_); ++rank) {
      Coord place = coordinates(rank, ranks_);
      place[mu] = 0;
      if (place == Coord{}) slabs.push_back(part_of(rank).extents[mu]);
    }
    const auto [thinnest, thickest] = std::minmax_element(slabs.begin(), slabs.end());
    if (*thinnest == *thickest) continue;
    constexpr std::size_t legible = 8;
    unequal +=
        fmt::format("{}{} {}", unequal.empty() ? "" : ", ", direction_name[mu],
                    slabs.size() > legible ? fmt::format("{} to {}", *thinnest, *thickest) : fmt::format("{}", fmt::join(slabs, "+")));
  }
  return unequal.empty() ? text : text + " (" + unequal + ")";
}

}  // namespace quarkstar::runtime
