#include "codelets/actions/staggered/convert_cuda.hpp"
#include "codelets/actions/staggered/convert_site.hpp"
#include "runtime/gpu/cuda_launch.cuh"

#include <cuda_runtime.h>

namespace quarkstar::cuda {
namespace {

template <class To, class From>
__global__ void convert_vectors_kernel(To* to, const From* from, const __grid_constant__ BlockShape to_shape,
                                       const __grid_constant__ BlockShape from_shape, int parity, int vectors,
                                       const staggered::VectorStatus* status, staggered::Obedience obedience, std::uint32_t sites) {
  runtime::wait_for_predecessors();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const std::int32_t* left_out = obedience.left_out(status);
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= sites) return;
  const int outer = static_cast<int>(id) / to_shape.lanes, lane = static_cast<int>(id) % to_shape.lanes;
  const SitePosition source = from_shape.locate(to_shape.local_site({parity, outer, lane}));
  for (int v = 0; v < vectors; ++v) {
    if (left_out != nullptr && left_out[v] != 0) continue;
    staggered::convert_vector<To, From>(to + staggered::vector_offset<To>(outer, v, lane, vectors, to_shape.lanes), to_shape.lanes,
                                        from + staggered::vector_offset<From>(source.outer, v, source.lane, vectors, from_shape.lanes),
                                        from_shape.lanes);
  }
}

}  // namespace

template <class To, class From>
void launch_convert_vectors(To* to, const From* from, const BlockShape& to_shape, const BlockShape& from_shape, int parity, int vectors,
                            const staggered::VectorStatus* status, staggered::Obedience obedience, runtime::CudaStream stream) {
  constexpr unsigned threads = 256;
  const auto sites = static_cast<std::uint32_t>(to_shape.outer_sites() * to_shape.lanes);
  runtime::launch_overlapping(convert_vectors_kernel<To, From>, (sites + threads - 1) / threads, threads, stream, to, from, to_shape,
                              from_shape, parity, vectors, status, obedience, sites);
  runtime::check_launch("staggered.convert");
}

#define QUARKSTAR_CONVERT_VECTORS(To, From)                                                                                              \
  template void launch_convert_vectors(To*, const From*, const BlockShape&, const BlockShape&, int, int, const staggered::VectorStatus*, \
                                       staggered::Obedience, runtime::CudaStream);
#define QUARKSTAR_CONVERT_VECTORS_TO(To) \
  QUARKSTAR_CONVERT_VECTORS(To, Half)    \
  QUARKSTAR_CONVERT_VECTORS(To, float)   \
  QUARKSTAR_CONVERT_VECTORS(To, double)
QUARKSTAR_CONVERT_VECTORS_TO(Half)
QUARKSTAR_CONVERT_VECTORS_TO(float)
QUARKSTAR_CONVERT_VECTORS_TO(double)

}  // namespace quarkstar::cuda
