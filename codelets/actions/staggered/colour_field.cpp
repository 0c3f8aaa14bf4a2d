#include "codelets/actions/staggered/colour_field.hpp"

#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"

namespace quarkstar::staggered {

ColourField::ColourField(LatticePointer lattice, int parity, int vectors)
    : lattice_(std::move(lattice)), parity_(parity), vectors_(vectors) {
  if (vectors < 1 || vectors > most_vectors) throw ShapeError("ColourField", "a number of vectors outside of 1..32");
  if (const int lanes = lattice_->vectors_in_lanes(); lanes > 1) {
    if (vectors % lanes != 0) throw ShapeError("ColourField", "vectors in lanes that fill no whole groups");
    if (runtime::Session::current().gpu_count() > 0) throw ShapeError("ColourField", "vectors in lanes beside a GPU");
  }
  blocks_.resize(static_cast<std::size_t>(lattice_->block_count()));
  for (const int b : lattice_->local_blocks())
    blocks_[static_cast<std::size_t>(b)] =
        runtime::Handle(static_cast<std::size_t>(block_vectors(b)) * site_bytes(lattice_->precision(), reals));
}

}  // namespace quarkstar::staggered
