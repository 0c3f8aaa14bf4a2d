#pragma once
// What the workers did, cut to a piece that a page can show.
#include "apps/run/report.hpp"
#include "runtime/graph/session.hpp"

namespace quarkstar::app {

/// Fills report.workers (with the busy part of the time between the first and the last recorded task) and
/// report.timeline (consecutive tasks from the middle, 60 for each worker, skipped tasks left out). Call when no task is running.
void record_timeline(runtime::Session& session, RunReport& report);

/// Adds to the report's workers where the time of all solves went, and what moved between memories.
void record_worker_times(runtime::WorkerProfile& profile, RunReport& report);

}  // namespace quarkstar::app
