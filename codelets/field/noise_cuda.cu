#include "codelets/field/noise_cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar::cuda {
namespace {

/// A thread for each lane of each group of vectors of an outer site: of vectors in lanes one per vector of a group.
template <class F>
__global__ void noise_kernel(F* field, const __grid_constant__ NoiseTask task, std::uint32_t threads) {
  runtime::wait_for_predecessors();
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= threads) return;
  const VectorPlaces& places = task.places;
  const auto width = static_cast<std::uint32_t>(places.width()), groups = static_cast<std::uint32_t>(places.groups());
  const int in_group = static_cast<int>(id % width), group = static_cast<int>(id / width % groups);
  const int outer = static_cast<int>(id / width / groups);
  write_noise_at(field, task, outer, places.lane_of_thread(in_group), places.vector_of_thread(in_group, group));
}

template <class F>
void launch(F* field, const NoiseTask& task, runtime::CudaStream stream) {
  constexpr unsigned width = 128;
  const auto threads = static_cast<std::uint32_t>(task.shape.outer_sites()) * static_cast<std::uint32_t>(task.places.width()) *
                       static_cast<std::uint32_t>(task.places.groups());
  runtime::launch_overlapping(noise_kernel<F>, (threads + width - 1) / width, width, stream, field, task, threads);
  runtime::check_launch("noise");
}

}  // namespace

void launch_noise(double* field, const NoiseTask& task, runtime::CudaStream stream) { launch(field, task, stream); }
void launch_noise(float* field, const NoiseTask& task, runtime::CudaStream stream) { launch(field, task, stream); }

}  // namespace quarkstar::cuda
