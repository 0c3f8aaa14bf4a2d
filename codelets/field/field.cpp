#include "codelets/field/field.hpp"

#include "runtime/graph/session.hpp"

namespace quarkstar {

Field::Field(LatticePointer lattice, int parity, int components, int vectors)
    : lattice_(std::move(lattice)), parity_(parity), components_(components), vectors_(vectors) {
  if (vectors < 1 || vectors * lattice_->slices() > most_vectors) throw ShapeError("Field", "a number of vectors outside of 1..32");
  if (lattice_->slices() > 1 && components != spinor_components) throw ShapeError("Field", "slices of a fifth dimension have spinors");
  if (components != spinor_components && components != colour_components && !is_coarse(components))
    throw ShapeError("Field", "neither spinors nor colour vectors nor coarse vectors: there are no kernels for them");
  if (is_coarse(components) &&
      (lattice_->lanes().lanes > 1 || lattice_->vectors_in_lanes() > 1 || lattice_->precision() == Precision::half))
    throw ShapeError("Field", "coarse vectors are on lattices with one lane, in single or double precision");
  if (const int lanes = vectors_in_lanes(); lanes > 1) {
    const bool on_gpus = lattice_->chunked();
    if (components != (on_gpus ? spinor_components : colour_components) || (!on_gpus && runtime::Session::current().gpu_count() > 0))
      throw ShapeError("Field", "vectors in lanes are colour vectors on CPUs, or spinors on GPUs");
    if (vectors % lanes != 0) throw ShapeError("Field", "vectors in lanes that fill no whole groups");
  }
  blocks_.resize(static_cast<std::size_t>(lattice_->block_count()));
  for (const int b : lattice_->local_blocks())
    blocks_[static_cast<std::size_t>(b)] = runtime::Handle(static_cast<std::size_t>(block_bytes(b)));
}

void Field::require_alike(const char* where, const Field& other) const {
  if (other.lattice_ != lattice_ || other.parity_ != parity_ || other.components_ != components_)
    throw ShapeError(where, "fields of another lattice, parity or kind");
}

}  // namespace quarkstar
