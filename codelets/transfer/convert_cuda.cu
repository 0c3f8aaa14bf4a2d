#include <cuda_runtime.h>

#include "codelets/transfer/convert_cuda.hpp"

namespace quarkstar::cuda {
namespace {

constexpr int reals = 24;

template <class To, class From>
__global__ void convert_kernel(To* to, const From* from, const __grid_constant__ BlockShape to_shape,
                               const __grid_constant__ BlockShape from_shape, int parity, std::uint32_t sites) {
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= sites) return;
  const int outer = static_cast<int>(id) / to_shape.lanes, lane = static_cast<int>(id) % to_shape.lanes;
  const SitePosition source = from_shape.locate(to_shape.local_site({parity, outer, lane}));
  To* t = to + static_cast<std::size_t>(outer) * reals * to_shape.lanes + lane;
  const From* f = from + static_cast<std::size_t>(source.outer) * reals * from_shape.lanes + source.lane;
  for (int i = 0; i < reals; ++i) t[i * to_shape.lanes] = static_cast<To>(f[i * from_shape.lanes]);
}

}  // namespace

template <class To, class From>
void launch_convert(To* to, const From* from, const BlockShape& to_shape, const BlockShape& from_shape, int parity,
                    runtime::CudaStream stream) {
  constexpr unsigned threads = 256;
  const auto sites = static_cast<std::uint32_t>(to_shape.outer_sites() * to_shape.lanes);
  convert_kernel<<<(sites + threads - 1) / threads, threads, 0, stream>>>(to, from, to_shape, from_shape, parity, sites);
  runtime::check_launch("transfer.convert");
}

template void launch_convert(float*, const double*, const BlockShape&, const BlockShape&, int, runtime::CudaStream);
template void launch_convert(double*, const float*, const BlockShape&, const BlockShape&, int, runtime::CudaStream);
template void launch_convert(float*, const float*, const BlockShape&, const BlockShape&, int, runtime::CudaStream);
template void launch_convert(double*, const double*, const BlockShape&, const BlockShape&, int, runtime::CudaStream);

}  // namespace quarkstar::cuda
