#pragma once
// The time of a solve over what no schedule could have beaten (--bound).
#include "apps/run/report.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/observe/bound.hpp"

#include <vector>

namespace quarkstar::app {

/// Records the graph of one solve, from its construction on, and what the workers do.
class BoundMeter {
 public:
  /// Throws Error(input) on several ranks: a graph without their messages bounds nothing.
  explicit BoundMeter(runtime::Session& session);
  ~BoundMeter();
  BoundMeter(const BoundMeter&) = delete;
  BoundMeter& operator=(const BoundMeter&) = delete;

  /// The bounds for workers that are, in each codelet, as fast as the fastest task of this solve on a worker of their kind (on GPUs: as the
  /// fastest GPU in the mean, since skipped tasks cannot be told from fast ones), and in codelets that the kind did not run as fast as in
  /// its best one; of a session that keeps owners also the bound that counts moved data. What is lost is waiting, unequal shares, overhead
  /// and tasks slower than the best; another run may have faster ones. Iterations are submitted beyond the one that stops the graph, so the
  /// recorded graph is scaled to the `bytes` that were done. Zeros, and a warning, where no bound can be told. Call when no task is
  /// running.
  BoundReport ended(double seconds, double bytes) const;

  const runtime::TaskGraph& graph() const { return recording_.graph(); }

 private:
  runtime::Session& session_;
  std::vector<runtime::Events::Lifetime> before_;
  runtime::GraphRecording recording_;
};

}  // namespace quarkstar::app
