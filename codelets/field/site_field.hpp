#pragma once
// Numbers on the sites of one parity that belong to no vector, such as a matrix per site, on the task graph.
#include "codelets/lattice/lattice.hpp"

#include <utility>
#include <vector>

namespace quarkstar {

/// `records` records of `reals` reals (an even number) per site. A block stores [outer site][record][word][lane]; a record is stored as a
/// vector of a field is, so in half precision each has a unit of its own (codelets/field/number_format.hpp), and on lattices that are
/// chunked() the words of a lane lie in chunks (codelets/field/word_place.hpp). Lanes are those of sites.
class SiteField {
 public:
  SiteField(LatticePointer lattice, int parity, int records, int reals)
      : lattice_(std::move(lattice)), parity_(parity), records_(records), reals_(reals) {
    blocks_.resize(static_cast<std::size_t>(lattice_->block_count()));
    for (const int b : lattice_->local_blocks())
      blocks_[static_cast<std::size_t>(b)] = runtime::Handle(static_cast<std::size_t>(lattice_->block(b).outer_sites()) *
                                                             static_cast<std::size_t>(lattice_->lanes().lanes) * bytes_per_site());
  }

  const LatticePointer& lattice() const { return lattice_; }
  int parity() const { return parity_; }
  const runtime::Handle& block(int b) const { return blocks_[static_cast<std::size_t>(b)]; }
  std::size_t bytes_per_site() const { return static_cast<std::size_t>(records_) * site_bytes(lattice_->precision(), reals_); }
  /// Call once after the numbers have been written: from here on tasks only read.
  void freeze() {
    for (runtime::Handle& handle : blocks_)
      if (handle) handle.freeze();
  }

 private:
  LatticePointer lattice_;
  int parity_, records_, reals_;
  std::vector<runtime::Handle> blocks_;
};

}  // namespace quarkstar
