#pragma once
// As runtime/gpu/cuda_launch.cuh, for kernels with more shared memory than they may declare.
#include "runtime/gpu/cuda_launch.cuh"

#include <cstddef>

namespace quarkstar::runtime {

/// kernel<<<blocks, threads, shared_bytes, stream>>>(arguments...) that may be brought onto the GPU early where `overlap`; also inside a
/// capture. shared_bytes: of a block, up to what the GPU has.
template <class... Parameters, class... Arguments>
void launch_with_shared_memory(void (*kernel)(Parameters...), std::size_t shared_bytes, bool overlap, dim3 blocks, dim3 threads,
                               cudaStream_t stream, Arguments&&... arguments) {
  (void)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
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

}  // namespace quarkstar::runtime
