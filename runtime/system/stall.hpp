#pragma once
// When does waiting become a hang? The clockwork of a watchdog, without threads and messages.
#include <algorithm>
#include <chrono>
#include <cstdint>

namespace quarkstar::runtime {

/// How long a job may stand still.
struct Patience {
  std::chrono::seconds idle{600};  ///< without anything completing on any rank; 0: for ever
  std::chrono::seconds silent{0};  ///< before a rank that does not answer when asked ends the job; 0: as idle
  const char* remedy = "restart from the last checkpoint, or raise the watchdog's time";  ///< of the command that runs
};

/// What one rank knows of the job's progress, from looks at itself and answers of others. Times are steady ones.
class Stall {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Stall(Clock::time_point now) : progressed_(now), since_(now), asked_(now) {}

  /// progress: what has completed on this rank so far; waits: whether it waits for anything now.
  void look(Clock::time_point now, std::int64_t progress, bool waits) {
    if (progress != progress_) progressed_ = now;
    if (progress != progress_ || !waits) since_ = now;
    progress_ = progress;
  }

  /// Since when nothing is known to have happened on any rank while this one waited.
  Clock::time_point since() const { return since_; }
  /// How long nothing has completed on this rank.
  Clock::duration idle(Clock::time_point now) const { return now - progressed_; }

  /// Whether it is time to ask the others.
  bool should_ask(Clock::time_point now, const Patience& patience) const {
    return (patience.silent.count() > 0 && now - std::max(since_, asked_) > patience.silent) || hangs(now, patience);
  }
  /// shortest_idle: of the ranks that have answered.
  void heard(Clock::time_point now, Clock::duration shortest_idle) {
    asked_ = now;
    since_ = std::max(since_, now - shortest_idle);
  }
  /// They could not be asked.
  void heard_nothing(Clock::time_point now) { asked_ = now; }

  bool hangs(Clock::time_point now, const Patience& patience) const { return patience.idle.count() > 0 && now - since_ > patience.idle; }

 private:
  std::int64_t progress_ = -1;
  Clock::time_point progressed_;  ///< something completed on this rank
  Clock::time_point since_;
  Clock::time_point asked_;
};

}  // namespace quarkstar::runtime
