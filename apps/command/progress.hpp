#pragma once
// Progress of long work: a bar where stderr is a terminal, lines in a log elsewhere; under MPI the root's only.
#include "apps/run/run_watch.hpp"

#include <chrono>
#include <string>

namespace quarkstar::app {

class ProgressBar : public RunProgress {
 public:
  /// title: what is being done, "solve"; steps: how many units it has (columns, sweeps).
  ProgressBar(std::string title, int steps);
  ~ProgressBar() override;
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Redraws the bar at most ten times a second; writes a log line at most every ten seconds, the first at once.
  void update(int step, double fraction, const std::string& detail) override;

  /// A log line, or the bar redrawn.
  void step_done(int step, const std::string& detail) override;

 private:
  using Clock = std::chrono::steady_clock;
  void draw(double done, int step, const std::string& detail);

  std::string title_;
  int steps_;
  bool shown_, terminal_;
  Clock::time_point last_{};  ///< the first update shows at once
};

}  // namespace quarkstar::app
