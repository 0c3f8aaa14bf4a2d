#include "codelets/quark_smear/colours_cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar::cuda {
namespace {

constexpr unsigned width = 256;

/// One thread per lane of an outer site.
template <class Spinors, class Colours>
__global__ void colours_kernel(Spinors* spinors, Colours* colours, const __grid_constant__ quark_smear::ColoursTask task,
                               std::uint32_t threads) {
  runtime::wait_for_predecessors();
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= threads) return;
  quark_smear::move_colours(spinors, colours, task, static_cast<int>(id) / task.colours.lanes, static_cast<int>(id) % task.colours.lanes);
}

__global__ void hop_links_kernel(double* even, double* odd, const double* links, const __grid_constant__ quark_smear::HopLinksTask task,
                                 std::uint32_t threads) {
  runtime::wait_for_predecessors();
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= threads) return;
  const int parity = static_cast<int>(blockIdx.y), lanes = task.shape.lanes;
  quark_smear::write_hop_links(parity == 0 ? even : odd, links, task, parity, static_cast<int>(id) / lanes, static_cast<int>(id) % lanes);
}

}  // namespace

template <class Spinors, class Colours>
void launch_colours(Spinors* spinors, Colours* colours, const quark_smear::ColoursTask& task, runtime::CudaStream stream) {
  const auto threads = static_cast<std::uint32_t>(task.colours.outer_sites() * task.colours.lanes);
  runtime::launch_overlapping(colours_kernel<Spinors, Colours>, (threads + width - 1) / width, width, stream, spinors, colours, task,
                              threads);
  runtime::check_launch("quark_smear.colours");
}
template void launch_colours(const double*, double*, const quark_smear::ColoursTask&, runtime::CudaStream);
template void launch_colours(double*, const double*, const quark_smear::ColoursTask&, runtime::CudaStream);

void launch_hop_links(double* even, double* odd, const double* links, const quark_smear::HopLinksTask& task, runtime::CudaStream stream) {
  const auto threads = static_cast<std::uint32_t>(task.shape.outer_sites() * task.shape.lanes);
  hop_links_kernel<<<dim3((threads + width - 1) / width, 2), width, 0, stream>>>(even, odd, links, task, threads);
  runtime::check_launch("quark_smear.links");
}

}  // namespace quarkstar::cuda
