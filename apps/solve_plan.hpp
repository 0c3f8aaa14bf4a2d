#pragma once
// Which worker owns which part of the lattice of a solve.
#include "apps/device_plan.hpp"
#include "solvers/settings.hpp"

namespace quarkstar::app {

/// Grid of blocks for `blocks` (zeros: t cut by the number of workers, every part at least 2 thick, and as thick as a hop is long).
Coord block_grid(const Coord& blocks, const Coord& extents, int workers, int hop = 1);

/// The grid that `blocks` asks for; zeros: t cut by the number of workers or, where the session has GPUs, what plan_devices() finds for
/// the memory that the solve takes and the speed of its Dslash.
PlannedLattice plan_solve(runtime::Session& session, const Coord& extents, const SolverSettings& solver, const Coord& blocks = {});

}  // namespace quarkstar::app
