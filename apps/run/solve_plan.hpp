#pragma once
// Which worker owns which part of the lattice of a solve.
#include "apps/run/device_plan.hpp"
#include "apps/run/memory_check.hpp"
#include "apps/run/report.hpp"
#include "solvers/eigen/modes_memory.hpp"
#include "solvers/settings.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app {

/// Least extent of a block where the lattice is cut by itself, by the longest hop: hops over three sites need three, and parts of 4 are
/// what the cut of an even extent keeps above that.
constexpr int thinnest_block(int reach) { return reach > 1 ? 4 : 2; }

/// Extents of what no cut may divide: domains and aggregates of preconditioners. {1, 1, 1, 1} without one.
Coord whole_units(const SolverSettings& settings, const Coord& lattice);
/// The same where every rank may have multigrid's levels of few sites for itself, for cuts that have no whole_units().
Coord least_units(const SolverSettings& settings, const Coord& lattice);

/// Of multigrid: the largest number of levels below that of the settings that would do. None where none would, or there is no multigrid.
std::optional<int> fewer_levels(const SolverSettings& settings, const Coord& lattice,
                                const std::function<bool(const SolverSettings& fewer)>& would_do);

/// Whether fewer levels of multigrid would give more of a rank's `workers` a part in t of its part of the lattice, of which `owners` own
/// some now: how many levels.
std::optional<int> levels_for_more_owners(const SolverSettings& settings, const Coord& lattice, const Coord& part, int owners, int workers);

/// Grid of blocks for `blocks` (zeros: t cut by the number of workers, every part at least `thinnest` thick, and a multiple of `whole`).
Coord block_grid(const Coord& blocks, const Coord& extents, int workers, int thinnest = 2, int whole = 1);

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

/// Who owns what in the solves of a run, and what they take of each memory: the same for every gauge configuration of that lattice.
struct PlannedSolve {
  PlannedLattice where;                         ///< with islands the first of them
  std::vector<runtime::Decomposition> islands;  ///< apps/run/islands.hpp
  std::vector<MemoryNeed> memory;
  int nrhs;  ///< right-hand sides that are solved together
  ModesMemory modes_memory = ModesMemory::device;
  std::string about_modes{};  ///< why they are elsewhere
};

/// Adds what the caller holds beside a solve to its needs. part: what this rank has of the lattice.
using CountBeside = std::function<void(std::vector<MemoryNeed>& needs, const Coord& part)>;

/// plan_run(), or plan_islands(), with its needs of memory, which are not checked. Where the user has not said how many right-hand sides go
/// together, and bits do not depend on it, half as many, and so on, until all of it fits, and GPUs hold theirs without help from CPUs;
/// where they never do, as many as fit with it. beside: what else is to fit. Throws Error(input) where blocks would be too thin, or
/// where multigrid cannot be on the lattice or its cut (check_multigrid()). Collective.
PlannedSolve plan_solve(runtime::Session& session, RunConfig config, const Coord& lattice, const CountBeside& beside = {});

/// From here on CPUs take part in the session's work as the plan has it: a policy that places tasks by itself gives them none where GPUs
/// alone are faster. For when no fields are in use.
void let_cpus_join(runtime::Session& session, const PlannedSolve& planned);

/// A report of such a solve says so.
void tell(const runtime::Session& session, const PlannedSolve& planned, RunReport& report);

/// Options of a session for solves of this run; others on the same lattice may use it too.
runtime::SessionOptions session_options(const RunConfig& config, const Coord& lattice);

}  // namespace quarkstar::app
