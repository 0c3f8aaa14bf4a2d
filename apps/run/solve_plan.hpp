#pragma once
// Which worker owns which part of the lattice of a solve.
#include "apps/run/device_plan.hpp"
#include "apps/run/memory_check.hpp"
#include "solvers/settings.hpp"

namespace quarkstar::app {

/// Least extent of a block where the lattice is cut by itself, by the longest hop: hops over three sites need three, and parts of 4 are
/// what the cut of an even extent keeps above that.
constexpr int thinnest_block(int reach) { return reach > 1 ? 4 : 2; }

/// Grid of blocks for `blocks` (zeros: t cut by the number of workers, every part at least `thinnest` thick).
Coord block_grid(const Coord& blocks, const Coord& extents, int workers, int thinnest = 2);

/// One rank: the lattice in nearly equal blocks for the session's owners. Where there are GPUs they own everything; the plan then names the
/// parts, and says so where a share of the CPUs was open to choice. Throws Error(input) naming --blocks, or --cpu-share where a share above
/// 0 is asked for beside GPUs.
PlannedLattice plan_equal_parts(const runtime::Session& session, const Coord& extents, const RunConfig& config);

/// Throws Error(input) naming --cpu-share: blocks that are given are cut for the GPUs alone.
[[noreturn]] void refuse_cpus_with_blocks();

/// plan_over_ranks() on several ranks. Where one rank has GPUs and no --blocks are given, what plan_devices() finds for the memory of the
/// solve, and of making its links, and the speed of its Dslash with as many right-hand sides as are solved together; else
/// plan_equal_parts().
PlannedLattice plan_run(runtime::Session& session, const Coord& extents, const RunConfig& config);

/// plan_run() with its memory `needs`. Where the user has not said how many right-hand sides go together, and bits do not depend on it,
/// half as many, and so on, until GPUs hold them without help from CPUs; where they never do, as many as fit with it.
PlannedLattice plan_for_memory(runtime::Session& session, const Coord& lattice, RunConfig& config, std::vector<MemoryNeed>& needs);

}  // namespace quarkstar::app
