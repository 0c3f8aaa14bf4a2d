#pragma once
// A device that fails while a session is at work.
#include "runtime/system/on_abort.hpp"

#include <functional>
#include <optional>
#include <string>

namespace quarkstar::runtime {

/// Whoever wants to go on without a device that has failed. While one is there it is called where a task, or the driver of a GPU, fails
/// with an error of the machine, or StarPU aborts where it meets that error before us: on the worker's thread, once, with the worker and
/// why, before anything else is done about it. The driver of such a GPU cannot be shut down, and StarPU ends the process where it meets its
/// error, so all that can be done is to begin a new program (runtime/system/begin_anew.hpp). Where the function returns, the graph or the
/// job ends as it does without one. One at a time.
class DeviceLoss {
 public:
  explicit DeviceLoss(std::function<void(int worker, const std::string& why)> lost);
  ~DeviceLoss();
  DeviceLoss(const DeviceLoss&) = delete;
  DeviceLoss& operator=(const DeviceLoss&) = delete;

  /// A worker's device has failed. For any thread; -1: a thread of no worker, of which nothing is told.
  static void tell(int worker, const std::string& why) noexcept;

 private:
  std::optional<OnAbort> on_abort_;  ///< only where there may be GPUs
};

}  // namespace quarkstar::runtime
