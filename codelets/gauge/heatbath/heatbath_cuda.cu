#include "codelets/gauge/heatbath/heatbath_arguments.hpp"
#include "runtime/gpu/cuda.hpp"
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

}  // namespace quarkstar::cuda

namespace quarkstar::heatbath {

template <class Update>
void run_update_on_cuda(runtime::Call& call) {
  const auto& a = call.arguments<UpdateArguments>();
  const int row_length = (a.shape.extents[0] + 1) / 2;
  const std::int64_t count = a.shape.rows() * row_length;
  a.before.launch(call, 1);
  cuda::update_kernel<Update>
      <<<static_cast<unsigned>((count + cuda::threads - 1) / cuda::threads), cuda::threads, 0,
         static_cast<runtime::CudaStream>(call.stream())>>>(a, a.shape.strides(), call.buffer<double>(0), row_length, count);
  runtime::check_launch("heatbath");
  a.behind.launch(call, 1 + a.faces_before);
}

template void run_update_on_cuda<HeatbathUpdate>(runtime::Call&);
template void run_update_on_cuda<OverrelaxationUpdate>(runtime::Call&);

}  // namespace quarkstar::heatbath
