#pragma once
// The main job: links and sources in, solved columns out, on the task graph.
#include "apps/report.hpp"
#include "codelets/lattice/host_gauge.hpp"
#include "runtime/decomposition.hpp"

#include <functional>

namespace quarkstar::app {

/// Grid of blocks for `blocks` (zeros: t cut by the number of workers, every part at least 2 thick).
Coord block_grid(const Coord& blocks, const Coord& extents, int workers);

/// The lattice cut over the ranks of the job, and each rank's part over the workers of its session. Throws Error(input) naming --ranks or
/// --blocks.
runtime::Decomposition cut_lattice(const Coord& extents, const RunConfig& config, const runtime::Session& session);

/// The links of this rank's part of a lattice (or more of it), once it is known.
using LinksOfPart = std::function<const HostGauge&(const runtime::Decomposition&)>;

/// Starts a session as config.session says, solves config.columns on `links`, and fills the report's solves, workers,
/// timeline and decomposition as it goes. Under MPI each rank gets its part of every column. Writes the trace if config.trace names one. Shows progress. Throws
/// Error(numerical) naming column and reason if a column does not converge (report.failed is then set, report.solves
/// ends with that column), and Interrupted after Ctrl-C.
Propagator solve_columns(const LinksOfPart& links, const Coord& lattice, const RunConfig& config, RunReport& report);

}  // namespace quarkstar::app
