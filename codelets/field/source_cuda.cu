#include "codelets/field/source_cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar::cuda {
namespace {

/// One thread per lane of an outer site: of vectors in lanes one per vector of a group.
__global__ void source_kernel(double* field, const double* table, const __grid_constant__ SourceTask task, std::uint32_t threads) {
  runtime::wait_for_predecessors();
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= threads) return;
  const VectorPlaces& places = task.places;
  const int outer = static_cast<int>(id) / places.width(), in_group = static_cast<int>(id) % places.width();
  for (int group = 0; group < places.groups(); ++group)
    write_source(field, table, task, outer, places.lane_of_thread(in_group), places.vector_of_thread(in_group, group));
}

/// One thread per lane of an outer site.
__global__ void slice_kernel(double* table, const double* field, const __grid_constant__ SliceTask task, std::uint32_t threads) {
  runtime::wait_for_predecessors();
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= threads) return;
  write_slices(table, field, task, static_cast<int>(id) / task.shape.lanes, static_cast<int>(id) % task.shape.lanes);
}

constexpr unsigned width = 256;

}  // namespace

void launch_sources(double* field, const double* table, const SourceTask& task, runtime::CudaStream stream) {
  const auto threads = static_cast<std::uint32_t>(task.shape.outer_sites() * task.places.width());
  runtime::launch_overlapping(source_kernel, (threads + width - 1) / width, width, stream, field, table, task, threads);
  runtime::check_launch("sources");
}

void launch_slices(double* table, const double* field, const SliceTask& task, runtime::CudaStream stream) {
  const auto threads = static_cast<std::uint32_t>(task.shape.outer_sites() * task.shape.lanes);
  runtime::launch_overlapping(slice_kernel, (threads + width - 1) / width, width, stream, table, field, task, threads);
  runtime::check_launch("source slices");
}

}  // namespace quarkstar::cuda
