#include "codelets/gauge/heatbath/heatbath_cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar::cuda {
namespace {

constexpr unsigned threads = 128;

/// One thread per link; neighbouring threads are every other site of a row. Plain doubles: their products round one by one, as the CPU's.
template <class Update>
__global__ void __launch_bounds__(threads)
    update_kernel(const __grid_constant__ heatbath::UpdateArguments a, const __grid_constant__ gauge::LinkStrides strides, double* memory,
                  int row_length, std::int64_t links) {
  const std::int64_t id = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (id >= links) return;
  const Coord start = a.shape.row_start(id / row_length);
  const auto row = a.row(start);
  const int x = row.first_x + 2 * static_cast<int>(id % row_length);
  if (x >= a.shape.extents[0]) return;
  const std::ptrdiff_t at = a.shape.offset(start) + x;
  const gauge::StridedLinks<double> around(memory, strides);
  const heatbath::Matrix staple = gauge::staple_sum(around, at, a.mu);
  double* link = memory + at + a.mu * strides.link;
  heatbath::Matrix u = site::read_link(link, strides.real);
  Update::apply(a, u, staple, row.first_site + x);
  site::write_link(link, u, strides.real);
}

}  // namespace

template <class Update>
void launch_link_update(const heatbath::UpdateArguments& arguments, double* links, runtime::CudaStream stream) {
  const int row_length = (arguments.shape.extents[0] + 1) / 2;
  const std::int64_t count = arguments.shape.rows() * row_length;
  update_kernel<Update><<<static_cast<unsigned>((count + threads - 1) / threads), threads, 0, stream>>>(
      arguments, arguments.shape.strides(), links, row_length, count);
  runtime::check_launch("heatbath");
}

template void launch_link_update<heatbath::HeatbathUpdate>(const heatbath::UpdateArguments&, double*, runtime::CudaStream);
template void launch_link_update<heatbath::OverrelaxationUpdate>(const heatbath::UpdateArguments&, double*, runtime::CudaStream);

}  // namespace quarkstar::cuda
