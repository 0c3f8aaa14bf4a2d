#pragma once
// The lattice cut into blocks: a grid of rectangles, unequal extents allowed, each with an owner.
#include <array>
#include <span>
#include <string>
#include <vector>

#include "runtime/coord.hpp"

namespace quarkstar::runtime {

struct Block {
  int index = 0;    ///< lexicographic in the grid of blocks
  Coord position{}; ///< in the grid of blocks
  Coord origin{};   ///< global coordinates of its first site
  Coord extents{};
  int owner = 0;    ///< worker of the session
};

/// Tensor-product cut: direction mu is cut into grid[mu] parts. Every block's x extent is even (so that both parities have
/// the same number of sites in every block); other extents are free.
class Decomposition {
 public:
  /// Nearly equal parts. Owners: consecutive blocks to consecutive workers, as evenly as possible.
  /// Throws Error(input) naming the direction when the lattice cannot be cut that way.
  Decomposition(const Coord& lattice, const Coord& grid, int workers);

  /// Parts as given: cuts[mu] lists the extents along mu, which must sum to the lattice's. owners: one worker a block.
  Decomposition(const Coord& lattice, const std::array<std::vector<int>, 4>& cuts, std::vector<int> owners);
  /// The whole lattice as one block of one worker.
  static Decomposition uncut(const Coord& lattice, int owner);

  const Coord& lattice() const { return lattice_; }
  const Coord& grid() const { return grid_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  const Block& block(int index) const { return blocks_[static_cast<std::size_t>(index)]; }
  int count() const { return static_cast<int>(blocks_.size()); }
  bool is_cut(int mu) const { return grid_[mu] > 1; }

  /// Index of the neighbouring block: direction 2 mu is +mu, 2 mu + 1 is -mu; periodic.
  int neighbour(int block, int direction) const;

  /// e.g. "8x8x8x16 in 1x1x1x2 blocks".
  std::string describe() const;

 private:
  void build(const std::array<std::vector<int>, 4>& cuts, const std::vector<int>& owners);
  Coord lattice_{}, grid_{};
  std::vector<Block> blocks_;
};

}  // namespace quarkstar::runtime
