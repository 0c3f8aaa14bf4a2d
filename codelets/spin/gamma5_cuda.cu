#include "codelets/arch/on_cuda.hpp"
#include "codelets/spin/gamma5_task.hpp"
#include "runtime/gpu/cuda.hpp"
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

}  // namespace quarkstar::cuda

namespace quarkstar {

void run_gamma5_on_cuda(runtime::Call& call) {
  const auto& task = call.arguments<Gamma5Task>();
  constexpr unsigned width = 256;
  const std::int64_t threads = task.groups * task.half;
  runtime::launch_overlapping(cuda::gamma5_kernel, static_cast<unsigned>((threads + width - 1) / width), width,
                              static_cast<runtime::CudaStream>(call.stream()), call.buffer<double>(0), call.buffer<const double>(1), task);
  runtime::check_launch("spin.gamma5");
}

}  // namespace quarkstar
