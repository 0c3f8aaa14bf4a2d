#include <cuda/atomic>

#include "runtime/gpu_flags.hpp"

namespace quarkstar::runtime {
namespace {

using Word = cuda::atomic_ref<GpuFlag, cuda::thread_scope_system>;

__global__ void epoch_kernel(GpuFlag* epoch) { ++*epoch; }

__global__ void signal_kernel(const __grid_constant__ GpuFlagList flags, const GpuFlag* epoch) {
  // The end of earlier kernels of the stream comes before this one, and release makes both visible everywhere in that order.
  __threadfence_system();
  Word(*flags.flag[threadIdx.x]).store(*epoch, cuda::memory_order_release);
}

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void wait_kernel(const __grid_constant__ GpuFlagList flags, const GpuFlag* epoch) {
  constexpr unsigned long long patience = 60'000'000'000;
  const GpuFlag run = *epoch;
  const unsigned long long start = nanoseconds();
  while (Word(*flags.flag[threadIdx.x]).load(cuda::memory_order_acquire) < run)
    if (nanoseconds() - start > patience) __trap();
  __threadfence_system();
}

}  // namespace

void enqueue_epoch(GpuFlag* epoch, CudaStream stream) {
  epoch_kernel<<<1, 1, 0, stream>>>(epoch);
  check_launch("epoch");
}
void enqueue_signal(const GpuFlagList& flags, const GpuFlag* epoch, CudaStream stream) {
  if (flags.count == 0) return;
  signal_kernel<<<1, static_cast<unsigned>(flags.count), 0, stream>>>(flags, epoch);
  check_launch("signal to another GPU");
}
void enqueue_wait(const GpuFlagList& flags, const GpuFlag* epoch, CudaStream stream) {
  if (flags.count == 0) return;
  wait_kernel<<<1, static_cast<unsigned>(flags.count), 0, stream>>>(flags, epoch);
  check_launch("wait for another GPU");
}

}  // namespace quarkstar::runtime
