#pragma once
// The main job: links and sources in, solved columns out, on the task graph.
#include "apps/report.hpp"
#include "codelets/lattice/host_gauge.hpp"
#include "runtime/decomposition.hpp"
#include "runtime/session.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quarkstar::app {

/// Starts a session as config.session says, plans who owns what, checks the memory, solves config.columns on `gauge`, and fills the report's solves, workers,
/// timeline and decomposition as it goes. Writes the trace if config.trace names one. Shows progress. Throws
/// Error(numerical) naming column and reason if a column does not converge (report.failed is then set, report.solves
/// ends with that column), and Interrupted after Ctrl-C.
/// planned: called once it is clear what runs where and how much memory it takes, before that memory is taken.
Propagator solve_columns(const HostGauge& gauge, const RunConfig& config, RunReport& report,
                         const std::function<void(const RunReport&)>& planned = {});

/// Ends a run whose column did not converge, as described above. right_hand_side: e.g. "column 3 (spin 1, colour 0)".
[[noreturn]] void throw_failure(const RunConfig& config, const std::string& right_hand_side, const SolveResult& result);

/// Time that the owners of blocks spent outside tasks, microseconds a task. busy_us: inside, summed over them.
double idle_us_a_task(const runtime::Decomposition& decomposition, double seconds, std::int64_t tasks, double busy_us);

}  // namespace quarkstar::app
