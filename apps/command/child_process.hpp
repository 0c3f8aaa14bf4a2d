#pragma once
// A program that is started, watched and ended.
#include <functional>
#include <string>
#include <vector>

namespace quarkstar::app {

struct ChildResult {
  int exit_code = -1;      ///< -1: ended by a signal
  int signal = 0;          ///< that ended it
  bool timed_out = false;  ///< it was ended because its time was over
  double seconds = 0;
  std::string out, err;  ///< what it wrote; of long texts the last MiB

  bool ok() const { return exit_code == 0 && !timed_out; }
  /// Why it is not ok, in one line: its own message where it left one.
  std::string failure() const;
};

/// Runs a program with its own process group, so that its children end with it. After `limit_seconds`, or as soon as `should_stop()` (asked
/// every 50 ms) says so, the group gets SIGTERM and grace_seconds later SIGKILL. started(): told of the group. Throws Error(environment)
/// where it cannot be started.
ChildResult run_child(const std::vector<std::string>& arguments, double limit_seconds, const std::function<bool()>& should_stop = {},
                      double grace_seconds = 2, const std::function<void(int group)>& started = {});

}  // namespace quarkstar::app
