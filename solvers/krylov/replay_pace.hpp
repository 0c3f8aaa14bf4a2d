#pragma once
// How many times a GPU replays a batch of iterations before the main thread looks again.
#include "runtime/graph/batch.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

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

  /// The outcome of the first batch that has not been looked at is known. Returns the seconds that each of its replays took on this rank,
  /// or 0 where they say nothing, on all ranks alike.
  double looked() {
    const int replays = submitted_.front();
    submitted_.pop_front();
    if (!runtime::Batch::can_be_replayed()) return 0;
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count() / replays;
    last_ = now;
    if (std::exchange(first_look_, false)) return 0;  // includes what came before the solve
    return seconds;
  }
  /// seconds: the most that looked() was on any rank.
  void set(double seconds) {
    if (!(seconds > 0)) return;
    most_ = fixed_ > 0 ? fixed_ : static_cast<int>(std::clamp(between_looks / seconds, 1.0, static_cast<double>(longest)));
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
