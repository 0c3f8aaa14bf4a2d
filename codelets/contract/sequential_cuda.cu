#include "codelets/contract/sequential_cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar::cuda {
namespace {

constexpr unsigned width = 128;

/// One thread per lane of an outer site, and vector: of vectors in lanes the lane is of one of them.
__global__ void __launch_bounds__(width) sequential_kernel(double* to, const double* from, const double* phases,
                                                           const __grid_constant__ contract::SequentialTask task, std::uint32_t threads) {
  runtime::wait_for_predecessors();
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= threads) return;
  const int lanes = task.to_places.lanes;
  contract::write_sequential_site(to, from, phases, task, static_cast<int>(id) / lanes, static_cast<int>(id) % lanes,
                                  static_cast<int>(blockIdx.y));
}

}  // namespace

void launch_sequential(double* to, const double* from, const double* phases, const contract::SequentialTask& task,
                       runtime::CudaStream stream) {
  const auto threads = static_cast<std::uint32_t>(task.to.outer_sites() * task.to_places.lanes);
  sequential_kernel<<<dim3((threads + width - 1) / width, static_cast<unsigned>(task.to_places.vectors)), width, 0, stream>>>(
      to, from, phases, task, threads);
  runtime::check_launch("sequential source");
}

}  // namespace quarkstar::cuda
