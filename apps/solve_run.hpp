#pragma once
// The main job: links and sources in, solved columns out, on the task graph.
#include "apps/report.hpp"
#include "codelets/lattice/host_gauge.hpp"

#include <functional>

namespace quarkstar::app {

/// Starts a session as config.session says, plans who owns what, checks the memory, solves config.columns on `gauge`, and fills the report's solves, workers,
/// timeline and decomposition as it goes. Writes the trace if config.trace names one. Shows progress. Throws
/// Error(numerical) naming column and reason if a column does not converge (report.failed is then set, report.solves
/// ends with that column), and Interrupted after Ctrl-C.
/// planned: called once it is clear what runs where and how much memory it takes, before that memory is taken.
Propagator solve_columns(const HostGauge& gauge, const RunConfig& config, RunReport& report,
                         const std::function<void(const RunReport&)>& planned = {});

}  // namespace quarkstar::app
