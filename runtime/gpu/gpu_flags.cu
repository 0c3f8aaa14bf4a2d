#include "runtime/gpu/cuda_launch.cuh"
#include "runtime/gpu/gpu_flags.cuh"

namespace quarkstar::runtime {
namespace {

__global__ void epoch_kernel(GpuFlag* epoch) { ++*epoch; }

__global__ void signal_kernel(const __grid_constant__ GpuFlagList flags, const GpuFlag* epoch) {
  wait_for_predecessors();
  // The end of earlier kernels of the stream comes before this one, and release makes both visible everywhere in that order.
  __threadfence_system();
  FlagWord(*flags.flag[threadIdx.x]).store(*epoch, cuda::memory_order_release);
}

__global__ void wait_kernel(const __grid_constant__ GpuFlagList flags, const GpuFlag* epoch) {
  wait_for_predecessors_alone();
  wait_for(flags.flag[threadIdx.x], *epoch, {nullptr, gpu_patience_ns});
}

}  // namespace

void enqueue_epoch(GpuFlag* epoch, CudaStream stream) {
  epoch_kernel<<<1, 1, 0, stream>>>(epoch);
  check_launch("epoch");
}
void enqueue_signal(const GpuFlagList& flags, const GpuFlag* epoch, CudaStream stream) {
  if (flags.count == 0) return;
  launch_overlapping(signal_kernel, 1, static_cast<unsigned>(flags.count), stream, flags, epoch);
  check_launch("signal to another GPU");
}
void enqueue_wait(const GpuFlagList& flags, const GpuFlag* epoch, CudaStream stream) {
  if (flags.count == 0) return;
  launch_overlapping(wait_kernel, 1, static_cast<unsigned>(flags.count), stream, flags, epoch);
  check_launch("wait for another GPU");
}

}  // namespace quarkstar::runtime
