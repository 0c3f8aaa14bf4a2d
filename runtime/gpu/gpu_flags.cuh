#pragma once
// What kernels do with flags that other GPUs set.
#include "runtime/gpu/gpu_flags.hpp"

#include <cuda/atomic>

namespace quarkstar::runtime {

using FlagWord = cuda::atomic_ref<GpuFlag, cuda::thread_scope_system>;

__device__ inline unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// A thread's wait for another device, from now on. late: a word of host memory that is 1 while that takes longer than
/// a second, or nullptr. Traps after limit_ns.
class DeviceWait {
 public:
  __device__ DeviceWait(std::uint32_t* late, unsigned long long limit_ns) : late_(late), limit_ns_(limit_ns), start_(nanoseconds()) {}
  /// To be called again and again while there is nothing yet.
  __device__ void again() {
    constexpr unsigned long long second = 1'000'000'000;
    const unsigned long long waited = nanoseconds() - start_;
    if (late_ != nullptr && waited > second) {
      *static_cast<volatile std::uint32_t*>(late_) = 1;  // again and again: others have the same word, and their waits may end
      told_ = true;
    }
    if (waited > limit_ns_) __trap();
  }
  /// It has come.
  __device__ void end() {
    if (told_) *static_cast<volatile std::uint32_t*>(late_) = 0;
  }

 private:
  std::uint32_t* late_;
  unsigned long long limit_ns_, start_;
  bool told_ = false;
};

/// Until the flag has reached `number`; what its writer had done by then is visible afterwards.
__device__ inline void wait_for(const GpuFlag* flag, GpuFlag number, DeviceWait wait) {
  FlagWord word(*const_cast<GpuFlag*>(flag));
  while (word.load(cuda::memory_order_acquire) < number) wait.again();
  wait.end();
  __threadfence_system();
}

}  // namespace quarkstar::runtime
