#pragma once
// What the GPU kernels of coarse operators and transfers share: which thread this is, and which vectors it has.
#include <cuda_runtime.h>

#include <cstdint>

namespace quarkstar::cuda {

/// idle: the flag that makes a kernel do nothing where it is not zero; nullptr: none.
__device__ __forceinline__ bool idles(const std::int32_t* idle) { return idle != nullptr && *idle != 0; }
__device__ __forceinline__ std::uint64_t thread_number() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

/// The vectors of a thread: so many from `first` on, of which those beyond the last are read as the last.
template <int Count>
struct VectorsOfThread {
  int first, last;
  const std::int32_t* left_out;
  __device__ int number(int t) const { return min(first + t, last); }
  __device__ bool wanted(int t) const { return first + t <= last && (left_out == nullptr || left_out[first + t] == 0); }
  __device__ bool none() const {
    for (int t = 0; t < Count; ++t)
      if (wanted(t)) return false;
    return true;
  }
};

}  // namespace quarkstar::cuda
