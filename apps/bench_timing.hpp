#pragma once
// How a kernel is timed as a solver runs it: in batches, through the task graph.
#include "runtime/session.hpp"

#include <functional>

namespace quarkstar::app {

/// Seconds of one application, and time outside of kernels.
struct PairTiming {
  double best = 0, median = 0;
  double microseconds_per_task = 0;  ///< wall time outside the kernels, a task
};

/// submit_pair submits two applications that read every link once, one onto each parity. repetitions: timed passes; each is as many
/// applications as fill about a tenth of a second.
PairTiming time_pairs(runtime::Session& session, int repetitions, const std::function<void()>& submit_pair);

}  // namespace quarkstar::app
