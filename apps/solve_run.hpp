#pragma once
// The main job: links and sources in, solved columns out, on the task graph.
#include "apps/report.hpp"
#include "codelets/lattice/host_gauge.hpp"

namespace quarkstar::app {

/// Grid of blocks for `blocks` (zeros: t cut by the number of workers, every part at least 2 thick).
Coord block_grid(const Coord& blocks, const Coord& extents, int workers);

/// Starts a session as config.session says, solves config.columns on `gauge`, and fills the report's solves, workers,
/// timeline and decomposition as it goes. Writes the trace if config.trace names one. Shows progress. Throws
/// Error(numerical) naming column and reason if a column does not converge (report.failed is then set, report.solves
/// ends with that column), and Interrupted after Ctrl-C.
Propagator solve_columns(const HostGauge& gauge, const RunConfig& config, RunReport& report);

/// Ends a run whose column did not converge, as described above. right_hand_side: e.g. "column 3 (spin 1, colour 0)".
[[noreturn]] void throw_failure(const RunConfig& config, const std::string& right_hand_side, const SolveResult& result);

}  // namespace quarkstar::app
