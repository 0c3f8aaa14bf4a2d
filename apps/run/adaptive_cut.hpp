#pragma once
// The policy `adaptive` in a run: the lattice is cut anew between two solves where the solves to come win back what that costs.
#include "apps/run/report.hpp"
#include "runtime/cut/resplit.hpp"
#include "runtime/graph/session.hpp"

#include <optional>
#include <vector>

namespace quarkstar::app {

/// Watches the solves of a run. Without the policy `adaptive`, and on several ranks, it never cuts.
class AdaptiveCut {
 public:
  /// thinnest: least extent of a block where it is cut; memory: what the fields of the lattice take, for what fits on GPUs;
  /// domain: extents of what no cut may divide.
  AdaptiveCut(runtime::Session& session, const Coord& lattice, int thinnest, const std::vector<MemoryNeed>& memory,
              const Coord& domain = {1, 1, 1, 1});

  /// Solves are about to begin, or have ended, and no task runs. What is done between ends() and begins() does not count.
  void begins();
  void ends();

  /// `together` right-hand sides have been solved on `now` in so many seconds; `remaining` more are to come, and another cut would cost
  /// migration_seconds. The cut to go on with, or nothing.
  std::optional<runtime::Decomposition> proposes(const runtime::Decomposition& now, double seconds, int together, int remaining,
                                                 double migration_seconds);

  /// What was decided, for the report.
  const std::vector<ResplitReport>& resplits() const { return resplits_; }

 private:
  std::vector<double> busy_seconds() const;

  runtime::Session& session_;
  bool watches_;
  std::vector<double> busy_before_, busy_after_;
  runtime::Resplitter resplitter_;
  std::vector<ResplitReport> resplits_;
  int solves_ = 0;
};

}  // namespace quarkstar::app
