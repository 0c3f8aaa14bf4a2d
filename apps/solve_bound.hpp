#pragma once
// The time of a solve over what no schedule could have beaten (--bound).
#include "apps/report.hpp"
#include "runtime/observe/bound.hpp"
#include "runtime/session.hpp"

#include <vector>

namespace quarkstar::app {

/// Records the graph of one solve, from its construction on, and what the workers do.
class BoundMeter {
 public:
  /// Throws Error(input) on several ranks: a graph without their messages bounds nothing.
  explicit BoundMeter(runtime::Session& session);

  /// The bounds for workers as fast as those that took part were in their tasks: what is lost is waiting, unequal shares and overhead.
  /// Iterations are submitted beyond the one that stops the graph, so the recorded graph is scaled to the `bytes` that were done. Zeros, and a
  /// warning, where no bound can be told. Call when no task is running.
  BoundReport ended(double seconds, double bytes) const;

 private:
  runtime::Session& session_;
  std::vector<runtime::Events::Lifetime> before_;
  runtime::GraphRecording recording_;
};

}  // namespace quarkstar::app
