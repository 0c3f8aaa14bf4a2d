#pragma once
// Phases of momenta on the task graph.
#include "codelets/contract/channel.hpp"
#include "runtime/cut/coord.hpp"
#include "runtime/graph/handle.hpp"

#include <vector>

namespace quarkstar::contract {

/// PhaseTable (contract_kernels.hpp) of each momentum, counted from x0.
runtime::Handle make_phases(const std::vector<Momentum>& momenta, const Coord& lattice, const Coord& x0);

/// x0 in space, and the source's time slice: the place of a point source, else the origin.
Coord origin_of(const Source& source);

}  // namespace quarkstar::contract
