#pragma once
// Copies from shared to global memory while a block of threads computes: the way back of bulk_copies.cuh, of compute capability 9.0.
#include <cuda_runtime.h>

#include <cstdint>

namespace quarkstar::cuda {

/// By all threads that have written what copies are to take, before the barrier behind which they start.
__device__ __forceinline__ void let_bulk_stores_see_shared_memory() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// Starts a copy from shared memory; addresses and `bytes` are multiples of 16.
__device__ __forceinline__ void start_bulk_store([[maybe_unused]] void* to, [[maybe_unused]] const void* from,
                                                 [[maybe_unused]] std::uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(from))), "r"(bytes)
               : "memory");
#endif
}

/// Until those that this thread has started have been done, which is before a block ends.
__device__ __forceinline__ void wait_for_own_bulk_stores() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

}  // namespace quarkstar::cuda
