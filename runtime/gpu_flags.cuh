#pragma once
// What kernels do with flags that other GPUs set.
#include <cuda/atomic>

#include "runtime/gpu_flags.hpp"

namespace quarkstar::runtime {

using FlagWord = cuda::atomic_ref<GpuFlag, cuda::thread_scope_system>;

__device__ inline unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// Until the flag has reached `number`; what its writer had done by then is visible afterwards. late: a word of host memory that is 1 while
/// that takes longer than a second, or nullptr. Traps after patience_ns.
__device__ inline void wait_for(const GpuFlag* flag, GpuFlag number, std::uint32_t* late, unsigned long long patience_ns) {
  constexpr unsigned long long second = 1'000'000'000;
  FlagWord word(*const_cast<GpuFlag*>(flag));
  const unsigned long long start = nanoseconds();
  bool told = false;
  while (word.load(cuda::memory_order_acquire) < number) {
    const unsigned long long waited = nanoseconds() - start;
    if (late != nullptr && !told && waited > second) {
      *static_cast<volatile std::uint32_t*>(late) = 1;
      told = true;
    }
    if (waited > patience_ns) __trap();
  }
  if (told) *static_cast<volatile std::uint32_t*>(late) = 0;
  __threadfence_system();
}

}  // namespace quarkstar::runtime
