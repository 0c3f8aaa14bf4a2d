#include "codelets/bench/stream_cuda.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/gpu/current_device.hpp"
#include "runtime/system/error.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <memory>

namespace quarkstar::bench {
namespace {

constexpr unsigned block_threads = 256;

/// Two elements per thread: 16-byte accesses.
__global__ void __launch_bounds__(block_threads)
    triad_kernel(double2* __restrict__ a, const double2* __restrict__ b, const double2* __restrict__ c, double s, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x;
  if (i < count) a[i] = {fma(s, c[i].x, b[i].x), fma(s, c[i].y, b[i].y)};
}

struct Free {
  void operator()(double2* memory) const { cudaFree(memory); }
};
using Array = std::unique_ptr<double2[], Free>;

Array allocate(std::size_t bytes) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, bytes) != cudaSuccess) {
    (void)cudaGetLastError();
    throw Error(ErrorKind::environment, "bench stream", "not enough memory on the GPU for the arrays", "give smaller arrays");
  }
  cudaMemset(memory, 0, bytes);
  return Array(static_cast<double2*>(memory));
}

}  // namespace

double measure_triad_on_gpu(int device, std::size_t bytes_per_array, int repetitions) {
  const runtime::CurrentDevice current(device);
  const std::size_t count = std::max<std::size_t>(1, bytes_per_array / sizeof(double2));
  const Array a = allocate(count * sizeof(double2)), b = allocate(count * sizeof(double2)), c = allocate(count * sizeof(double2));
  const auto blocks = static_cast<unsigned>((count + block_threads - 1) / block_threads);
  const auto pass = [&](std::size_t) { triad_kernel<<<blocks, block_threads>>>(a.get(), b.get(), c.get(), 3.0, count); };
  // One pass more than counts: the first one warms up.
  const auto microseconds = runtime::time_parts(nullptr, static_cast<std::size_t>(repetitions) + 1, pass);
  runtime::check_launch("bench stream");
  const double best = *std::min_element(microseconds.begin() + 1, microseconds.end());
  return 3 * static_cast<double>(count * sizeof(double2)) / best * 1e-3;
}

}  // namespace quarkstar::bench
