#include "codelets/spin/gamma5_cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar::cuda {
namespace {

/// A thread for each number of the first half of each group, and the one behind it in the second.
__global__ void gamma5_kernel(double* out, const double* in, const __grid_constant__ Gamma5Task task) {
  runtime::wait_for_predecessors();
  const std::int64_t id = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (id >= task.groups * task.half) return;
  const std::int64_t upper = id + id / task.half * task.half, lower = upper + task.half;
  out[task.offset + upper] = in[upper];
  out[task.offset + lower] = -in[lower];
}

}  // namespace

void launch_gamma5(double* out, const double* in, const Gamma5Task& task, runtime::CudaStream stream) {
  constexpr unsigned width = 256;
  const std::int64_t threads = task.groups * task.half;
  runtime::launch_overlapping(gamma5_kernel, static_cast<unsigned>((threads + width - 1) / width), width, stream, out, in, task);
  runtime::check_launch("spin.gamma5");
}

}  // namespace quarkstar::cuda
