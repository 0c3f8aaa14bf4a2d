#pragma once
// The lattice cut into blocks: a grid of rectangles, unequal extents allowed, each with an owner: a rank and one of its workers.
#include "runtime/cut/coord.hpp"

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace quarkstar::runtime {

struct Block {
  int index = 0;     ///< lexicographic in the grid of blocks
  Coord position{};  ///< in the grid of blocks
  Coord origin{};    ///< global coordinates of its first site
  Coord extents{};
  int owner = 0;  ///< worker of the session that runs on its rank
  int rank = 0;
};

/// How the ranks of a job share a lattice: a grid of rectangles, one a rank, ranks in lexicographic order.
struct RankGrid {
  Coord grid{1, 1, 1, 1};
  int rank = 0;  ///< this one
  /// Extents of the slabs into which each direction is cut; empty: nearly equal ones.
  std::array<std::vector<int>, 4> slabs{};
};

/// Of each direction and slab of ranks the extents of its blocks. Slabs may have different numbers of them.
using SlabCuts = std::array<std::vector<std::vector<int>>, 4>;

/// Tensor-product cut: direction mu is cut into grid[mu] parts. Every block's x extent is even (so that both parities have
/// the same number of sites in every block); other extents are free.
class Decomposition {
 public:
  /// Nearly equal parts. Owners: consecutive blocks to consecutive workers, whose sites are as equal as that allows.
  /// Throws Error(input) naming the direction when the lattice cannot be cut that way.
  Decomposition(const Coord& lattice, const Coord& grid, int workers);

  /// Parts as given: cuts[mu] lists the extents along mu, which must sum to the lattice's. owners: one worker per block.
  Decomposition(const Coord& lattice, const std::array<std::vector<int>, 4>& cuts, std::vector<int> owners);
  /// The whole lattice as one block of one worker.
  static Decomposition uncut(const Coord& lattice, int owner);

  /// The lattice cut over ranks, and each rank's part into blocks_a_rank nearly equal blocks. owners: those of a rank's blocks to its
  /// workers, consecutive blocks to consecutive workers. Throws Error(input) naming ranks or blocks and the direction.
  Decomposition(const Coord& lattice, const RankGrid& ranks, const Coord& blocks_a_rank, int workers);
  /// The same with blocks as given. worker_of: owner of each block of this rank, which is at that position in the grid of its rank's
  /// blocks.
  Decomposition(const Coord& lattice, const SlabCuts& cuts, int rank, const std::function<int(const Coord& position)>& worker_of);
  /// The same, consecutive blocks to consecutive workers.
  Decomposition(const Coord& lattice, const SlabCuts& cuts, int rank, int workers);

  const Coord& lattice() const { return lattice_; }
  const Coord& grid() const { return grid_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  const Block& block(int index) const { return blocks_[static_cast<std::size_t>(index)]; }
  int count() const { return static_cast<int>(blocks_.size()); }
  /// Blocks of this rank: fields, handles and tasks exist for these only. Ascending.
  const std::vector<int>& local() const { return local_; }
  /// Position of a block among those of its rank.
  int local_index(int block) const { return local_index_[static_cast<std::size_t>(block)]; }
  bool is_local(int block) const { return this->block(block).rank == rank_; }
  /// The first worker that owns one of them: where scalar steps are taken.
  int first_owner() const;
  int rank() const { return rank_; }
  /// Whether other ranks have parts of it.
  bool is_distributed() const { return volume(ranks_) > 1; }
  /// Of the rank that has most.
  int most_blocks_of_a_rank() const { return most_blocks_of_a_rank_; }
  /// Ranks in each direction.
  const Coord& ranks() const { return ranks_; }
  /// The rectangle of this rank's blocks, or another's.
  Box part() const { return part_of(rank_); }
  Box part_of(int rank) const;

  bool is_cut(int mu) const { return grid_[mu] > 1; }

  /// Index of the neighbouring block: direction 2 mu is +mu, 2 mu + 1 is -mu; periodic.
  int neighbour(int block, int direction) const;

  /// e.g. "8x8x8x16 in 1x1x1x2 blocks"; "8x8x8x16 in 1x1x1x3 blocks on 1x1x1x2 ranks (t 12+4)" where ranks have unequal parts.
  std::string describe() const;

 private:
  void build(const SlabCuts& cuts);
  void give_to_consecutive(int workers);
  Coord lattice_{}, grid_{}, ranks_{1, 1, 1, 1};
  int rank_ = 0, most_blocks_of_a_rank_ = 0;
  std::vector<Block> blocks_;
  std::vector<int> local_, local_index_;
};

}  // namespace quarkstar::runtime
