#pragma once
// How many times a GPU replays a batch of iterations before the main thread looks again.
#include "runtime/graph/batch.hpp"
#include "runtime/mpi/job.hpp"

#include <algorithm>
#include <chrono>
#include <deque>

namespace quarkstar {

/// A task that ends costs a GPU an idle time, because the next one begins when the host has seen the end; a look that
/// comes late keeps users and restart files waiting. So looks come every fifth of a second, or every 32nd batch where
/// that is sooner. All ranks agree.
class ReplayPace {
 public:
  /// For the next batch to be submitted.
  int next() {
    submitted_.push_back(most_);
    return most_;
  }

  /// The outcome of the first batch that has not been looked at is known. Collective.
  void looked() {
    const int replays = submitted_.front();
    submitted_.pop_front();
    if (!runtime::Batch::can_be_replayed()) return;
    const auto now = Clock::now();
    double seconds = std::chrono::duration<double>(now - last_).count() / replays;
    last_ = now;
    if (first_look_) {  // includes what came before the solve
      first_look_ = false;
      return;
    }
    if (fixed_ > 0) {
      most_ = fixed_;
      return;
    }
    runtime::mpi::Job::current().combine(std::span(&seconds, 1), runtime::mpi::Combine::maximum);
    most_ = static_cast<int>(std::clamp(between_looks / seconds, 1.0, static_cast<double>(longest)));
  }

  /// From the second look of every later solve on this many, whatever time they take; 0: by time. For tests, which must
  /// not depend on time; the same on all ranks.
  static void fix(int replays) { fixed_ = replays; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double between_looks = 0.2;  ///< seconds
  static constexpr int longest = 32;
  static inline int fixed_ = 0;
  std::deque<int> submitted_;  ///< replays of the batches that have not been looked at
  Clock::time_point last_ = Clock::now();
  int most_ = 1;
  bool first_look_ = true;
};

}  // namespace quarkstar
