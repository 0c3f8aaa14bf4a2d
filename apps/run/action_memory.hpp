#pragma once
// What the links of an action take of memory.
#include "apps/run/memory_check.hpp"

#include <vector>

namespace quarkstar::app {

/// Adds what links take while they are read and made. needs: as memory_needs().
void add_links(std::vector<MemoryNeed>& needs, const runtime::Session& session, const runtime::Decomposition& decomposition,
               const RunConfig& config);

/// What an owner of part of a lattice holds at the peak: of each layer of sites, and besides for faces and borders.
struct PartBytes {
  double layer = 0, border = 0;
};

/// Memory of a part that is cut along `direction`. An upper bound where making the links needs more borders and the solve more layers.
PartBytes part_bytes(const Coord& lattice, int direction, const RunConfig& config);

}  // namespace quarkstar::app
