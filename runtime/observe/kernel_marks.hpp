#pragma once
#include <atomic>

namespace quarkstar::runtime {

/// While one lives, kernels are timed in a sample of the batches that GPUs replay, as with SessionOptions::time_kernels. To be made and
/// ended while no task runs.
class KernelMarks {
 public:
  KernelMarks() { ++alive; }
  ~KernelMarks() { --alive; }
  KernelMarks(const KernelMarks&) = delete;
  KernelMarks& operator=(const KernelMarks&) = delete;

  static bool wanted() { return alive > 0; }

 private:
  static inline std::atomic<int> alive{0};
};

}  // namespace quarkstar::runtime
