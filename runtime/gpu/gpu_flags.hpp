#pragma once
// Signals between GPUs of a process without the driver: kernels of one lane each that write and watch words in device memory. An event
// between devices costs about 25 us in a CUDA graph (docs/results), these much less.
#include "runtime/gpu/cuda.hpp"

#include <cstdint>

namespace quarkstar::runtime {

/// A word that one device writes and another watches; it only grows: run r of a program sets it to r.
using GpuFlag = unsigned long long;

/// A device of this process that has been waited for for so long will not come: the wait ends in a trap.
inline constexpr std::uint64_t gpu_patience_ns = 60'000'000'000;

/// Most flags that one call takes.
inline constexpr int most_gpu_flags = 16;

struct GpuFlagList {
  GpuFlag* flag[most_gpu_flags];
  int count = 0;
};

/// Enqueues: ++*epoch, the number of this run on this device.
void enqueue_epoch(GpuFlag* epoch, CudaStream stream);

/// Enqueues: what the stream has done so far is visible to every device, then every flag of the list becomes *epoch.
void enqueue_signal(const GpuFlagList& flags, const GpuFlag* epoch, CudaStream stream);

/// Enqueues: waits until every flag of the list has reached *epoch; what its writers' streams had done by then is
/// visible afterwards. The work that sets the flags must be enqueued, or be part of the same graph, and the branches of
/// a graph on one device must not be put one behind the other by the driver (CUDA_DEVICE_MAX_CONNECTIONS=1 might).
/// Traps after gpu_patience_ns; $QUARKSTAR_GPU_FLAGS=off does without flags.
void enqueue_wait(const GpuFlagList& flags, const GpuFlag* epoch, CudaStream stream);

}  // namespace quarkstar::runtime
