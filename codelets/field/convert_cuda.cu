#include "codelets/field/convert_cuda.hpp"
#include "codelets/field/convert_site.hpp"
#include "runtime/gpu/cuda_launch.cuh"

#include <cuda_runtime.h>

namespace quarkstar::cuda {
namespace {

template <class To, class From>
__global__ void convert_kernel(To* to, const From* from, const __grid_constant__ BlockShape to_shape,
                               const __grid_constant__ BlockShape from_shape, int parity, const std::int32_t* idle, std::uint32_t sites) {
  runtime::wait_for_predecessors();
  if (idle != nullptr && *idle != 0) return;
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= sites) return;
  const int outer = static_cast<int>(id) / to_shape.lanes, lane = static_cast<int>(id) % to_shape.lanes;
  const SitePosition source = from_shape.locate(to_shape.local_site({parity, outer, lane}));
  convert_site<To, From>(to + spinor_offset<To>(outer, lane, to_shape.lanes), to_shape.lanes,
                         from + spinor_offset<From>(source.outer, source.lane, from_shape.lanes), from_shape.lanes);
}

}  // namespace

template <class To, class From>
void launch_convert(To* to, const From* from, const BlockShape& to_shape, const BlockShape& from_shape, int parity,
                    const std::int32_t* idle, runtime::CudaStream stream) {
  constexpr unsigned threads = 256;
  const auto sites = static_cast<std::uint32_t>(to_shape.outer_sites() * to_shape.lanes);
  runtime::launch_overlapping(convert_kernel<To, From>, (sites + threads - 1) / threads, threads, stream, to, from, to_shape, from_shape,
                              parity, idle, sites);
  runtime::check_launch("transfer.convert");
}

#define QUARKSTAR_CONVERT(To, From) \
  template void launch_convert(To*, const From*, const BlockShape&, const BlockShape&, int, const std::int32_t*, runtime::CudaStream);
#define QUARKSTAR_CONVERT_TO(To) \
  QUARKSTAR_CONVERT(To, Half)    \
  QUARKSTAR_CONVERT(To, float)   \
  QUARKSTAR_CONVERT(To, double)
QUARKSTAR_CONVERT_TO(Half)
QUARKSTAR_CONVERT_TO(float)
QUARKSTAR_CONVERT_TO(double)

}  // namespace quarkstar::cuda
