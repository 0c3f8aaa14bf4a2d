#pragma once
// Times the Wilson Dslash as a solve runs it: through the task graph.
#include "apps/device_plan.hpp"
#include "codelets/lattice/precision.hpp"
#include "runtime/decomposition.hpp"
#include "runtime/session.hpp"

namespace quarkstar::app {

struct DslashCase {
  Coord lattice;
  Precision precision;
  int link_reals;
  Coord tile;       ///< wanted extents of a tile of outer sites (Lattice); 0: no limit
  int block_threads;  ///< of a GPU kernel; 0: its own choice
  int repetitions;  ///< timed passes; each is as many applications as fill about a tenth of a second
};

/// Blocks for the devices that the session's options ask for, with the stand-alone speed of each owner on the whole lattice where there
/// is a choice to make (app::plan_devices).
PlannedLattice plan_dslash(runtime::Session& session, const DslashCase& c);

struct DslashTiming {
  double best_gflops = 0, median_gflops = 0;  ///< 1320 flop a site
  double best_gbs = 0;                        ///< compulsory bytes
  double microseconds_per_task = 0;           ///< wall time of the owners outside the kernels, a task
  double tasks_per_application = 0;           ///< packs, interiors and boundaries of all blocks
};

DslashTiming time_dslash(runtime::Session& session, const runtime::Decomposition& decomposition, const DslashCase& c);

}  // namespace quarkstar::app
