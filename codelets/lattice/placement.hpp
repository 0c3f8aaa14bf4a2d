#pragma once
#include "codelets/lattice/lattice.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/scalar.hpp"

namespace quarkstar {

/// A task on one block runs where its owner is.
inline runtime::Placement placement_of(const BlockGeometry& geometry, runtime::Role role = runtime::Role::work) {
  return {.owner = geometry.block().owner, .block = geometry.block().index, .role = role};
}

/// So many sums of the tasks on the blocks of a lattice, over the ranks that have parts of it.
inline runtime::PartialSums partial_sums_on(const Lattice& lattice, int sums) {
  return runtime::PartialSums(static_cast<int>(lattice.local_blocks().size()), sums, lattice.decomposition().is_distributed());
}

}  // namespace quarkstar
