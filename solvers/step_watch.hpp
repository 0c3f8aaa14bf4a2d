#pragma once
// Work and time of the steps of what is submitted, level by level.
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar {

/// What all calls of a step came to, without the steps inside it.
struct StepWork {
  int level = 0;
  std::string name;
  int calls = 0;
  double flops = 0, bytes = 0;  ///< submitted by this thread, so of this rank
  double seconds = 0;           ///< wall time; 0 of a watch that does not wait
};

/// Counts what steps submit. One that waits ends each step when all tasks are done, so that its seconds are its own: nothing of one step
/// runs beside another then, and no bit changes. It must not wait where a runtime::Batch collects tasks.
class StepWatch {
 public:
  enum class Seconds { no, yes };
  explicit StepWatch(Seconds seconds) : waits_(seconds == Seconds::yes) {}
  /// Runs body as a call of a step, which may contain others. watch: nullptr: just runs it. A watch is of no use after a body that threw.
  static void run(StepWatch* watch, int level, const char* name, const std::function<void()>& body);
  /// In the order of their first calls.
  const std::vector<StepWork>& steps() const { return steps_; }
  double flops_of_level(int level) const;
  double seconds_of_level(int level) const;

 private:
  void charge();

  bool waits_;
  std::vector<StepWork> steps_;
  std::optional<std::size_t> at_{};  ///< the step at work
  double flops_ = 0, bytes_ = 0, us_ = 0;
};

}  // namespace quarkstar
