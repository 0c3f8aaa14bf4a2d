#pragma once
#include "codelets/lattice/block_geometry.hpp"
#include "runtime/graph/codelet.hpp"

namespace quarkstar {

/// A task on one block runs where its owner is.
inline runtime::Placement placement_of(const BlockGeometry& geometry, runtime::Role role = runtime::Role::work) {
  return {.owner = geometry.block().owner, .block = geometry.block().index, .role = role};
}

}  // namespace quarkstar
