#pragma once
// Launches whose start-up overlaps the end of the kernel before them (programmatic dependent launch): in a row of kernels of a few
// microseconds each, starting one costs about as much as running it.
#include "runtime/gpu/cuda_launch.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace quarkstar::runtime {

/// Until all that was enqueued before has run and its writes can be seen. The first statement of kernels that are launched by
/// launch_overlapping() and may have to wait for others long: the next kernel then takes no room meanwhile.
__device__ __forceinline__ void wait_for_predecessors_alone() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// The next kernel may be brought onto the GPU, where it waits for the end of this one as above.
__device__ __forceinline__ void let_successors_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Must be the first statement of a kernel that is launched by launch_overlapping(), for every thread and before any return: lets the
/// next kernel be brought onto the GPU, then waits as above. As every kernel waits before it does anything, one that has ended has all
/// before it ended too.
__device__ __forceinline__ void wait_for_predecessors() {
  let_successors_start();
  wait_for_predecessors_alone();
}

/// Threads from which on a Dslash is brought onto the GPU early: a grid that does not fill the GPU twice only gets in the way of the one
/// before it. At 16^4 a fifth slower in single, a third in half precision, from 24^4 on 1 to 4 % faster (one H200, docs/results).
inline constexpr std::int64_t least_overlapping = 1 << 16;

/// kernel<<<blocks, threads, shared_bytes, stream>>>(arguments...) that may be brought onto the GPU early where `overlap`; also inside a
/// capture. shared_bytes: of a block, besides what the kernel declares; up to what the GPU has.
template <class... Parameters, class... Arguments>
void launch_with_shared_memory(void (*kernel)(Parameters...), std::size_t shared_bytes, bool overlap, dim3 blocks, dim3 threads,
                               cudaStream_t stream, Arguments&&... arguments) {
  if (shared_bytes > 0) (void)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = blocks;
  configuration.blockDim = threads;
  configuration.dynamicSmemBytes = shared_bytes;
  configuration.stream = stream;
  configuration.attrs = &early;
  configuration.numAttrs = overlap && kernels_can_overlap() ? 1 : 0;
  // A failure shows in cudaGetLastError, as with <<<>>>.
  (void)cudaLaunchKernelEx(&configuration, kernel, std::forward<Arguments>(arguments)...);
}
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), bool overlap, dim3 blocks, dim3 threads, cudaStream_t stream, Arguments&&... arguments) {
  launch_with_shared_memory(kernel, 0, overlap, blocks, threads, stream, std::forward<Arguments>(arguments)...);
}
template <class... Parameters, class... Arguments>
void launch_overlapping(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, cudaStream_t stream, Arguments&&... arguments) {
  launch(kernel, true, blocks, threads, stream, std::forward<Arguments>(arguments)...);
}

}  // namespace quarkstar::runtime
