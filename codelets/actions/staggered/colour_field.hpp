#pragma once
// Fields of colour vectors on the task graph: several right-hand sides together.
#include "codelets/lattice/lattice.hpp"

namespace quarkstar::staggered {

/// Right-hand sides that one field can hold.
inline constexpr int most_vectors = 32;

/// n colour vectors on each site of one parity. A block stores [outer site][vector][colour][re, im][lane]: the vectors of a site lie
/// side by side, so that a kernel reads a link once for all of them. Where the lattice has G vectors in lanes (Lattice::vectors_in_lanes())
/// it stores [site][group of G vectors][colour][re, im][vector of the group]: a group is what elsewhere is a vector of G lanes.
class ColourField {
 public:
  static constexpr int reals = 6;  ///< of one vector

  /// Throws ShapeError unless 1 <= vectors <= most_vectors, and with vectors in lanes where they fill no whole groups or the session has a
  /// GPU, which has no kernels for them.
  ColourField(LatticePointer lattice, int parity, int vectors);

  const LatticePointer& lattice() const { return lattice_; }
  int parity() const { return parity_; }
  int vectors() const { return vectors_; }
  /// What lies side by side where lanes do, and how often: G and n / G where vectors are in lanes, else the lanes of sites and n.
  int width() const { return lattice_->vectors_in_lanes() * lattice_->lanes().lanes; }
  int groups() const { return vectors_ / lattice_->vectors_in_lanes(); }
  const runtime::Handle& block(int b) const { return blocks_[static_cast<std::size_t>(b)]; }
  /// Colour vectors in one block.
  std::int64_t block_vectors(int b) const { return std::int64_t{lattice_->block(b).outer_sites()} * lattice_->lanes().lanes * vectors_; }

 private:
  LatticePointer lattice_;
  int parity_, vectors_;
  std::vector<runtime::Handle> blocks_;
};

}  // namespace quarkstar::staggered
