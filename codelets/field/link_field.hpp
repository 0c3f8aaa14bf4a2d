#pragma once
// The links of an operator on the task graph: one handle for each block of this rank.
#include "codelets/lattice/lattice.hpp"

#include <utility>
#include <vector>

namespace quarkstar {

/// The eight gauge links that touch the sites of one parity: forward U_mu(x) and backward U_mu(x - mu) side by side, so that a
/// block needs no neighbour's links and a kernel reads one place. Each link is stored at both of its ends.
/// A block stores [outer site][direction][real][lane]; reals = 18 (three rows), 12 (two rows) or 8
/// (codelets/su3/compact_link.hpp).
class LinkField {
 public:
  LinkField(LatticePointer lattice, int parity, int reals) : lattice_(std::move(lattice)), parity_(parity), reals_(reals) {
    blocks_.resize(static_cast<std::size_t>(lattice_->block_count()));
    for (const int b : lattice_->local_blocks())
      blocks_[static_cast<std::size_t>(b)] =
          runtime::Handle(static_cast<std::size_t>(lattice_->block(b).outer_sites()) * 8 *
                          static_cast<std::size_t>(lattice_->lanes().lanes) * link_bytes(lattice_->precision(), reals));
  }

  const LatticePointer& lattice() const { return lattice_; }
  int parity() const { return parity_; }
  int reals() const { return reals_; }
  const runtime::Handle& block(int b) const { return blocks_[static_cast<std::size_t>(b)]; }
  /// Call once after the links have been written: from here on tasks only read.
  void freeze() {
    for (runtime::Handle& handle : blocks_)
      if (handle) handle.freeze();
  }

 private:
  LatticePointer lattice_;
  int parity_, reals_;
  std::vector<runtime::Handle> blocks_;
};

}  // namespace quarkstar
