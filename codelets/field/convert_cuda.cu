#include "codelets/field/convert_cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"

#include <cuda_runtime.h>

namespace quarkstar::cuda {
namespace {

template <int Components, class To, class From>
__global__ void convert_kernel(To* to, const From* from, const __grid_constant__ BlockShape to_shape,
                               const __grid_constant__ BlockShape from_shape, int parity, int vectors, const VectorStatus* status,
                               Obedience obedience, std::uint32_t sites) {
  runtime::wait_for_predecessors();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const std::int32_t* left_out = obedience.left_out(status);
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= sites) return;
  const int outer = static_cast<int>(id) / to_shape.lanes, lane = static_cast<int>(id) % to_shape.lanes;
  const SitePosition source = from_shape.locate(to_shape.local_site({parity, outer, lane}));
  const VectorPlaces to_places{vectors, to_shape.lanes, 1}, from_places{vectors, from_shape.lanes, 1};
  constexpr int to_words = NumberFormat<To>::site_words(2 * Components), from_words = NumberFormat<From>::site_words(2 * Components);
  for (int v = 0; v < vectors; ++v) {
    if (left_out != nullptr && left_out[v] != 0) continue;
    convert_vector<Components, To, From>(to + to_places.offset(to_words, outer, v, lane), to_shape.lanes,
                                         from + from_places.offset(from_words, source.outer, v, source.lane), from_shape.lanes);
  }
}

}  // namespace

template <int Components, class To, class From>
void launch_convert(To* to, const From* from, const BlockShape& to_shape, const BlockShape& from_shape, int parity, int vectors,
                    const VectorStatus* status, Obedience obedience, runtime::CudaStream stream) {
  constexpr unsigned threads = 256;
  const auto sites = static_cast<std::uint32_t>(to_shape.outer_sites() * to_shape.lanes);
  runtime::launch_overlapping(convert_kernel<Components, To, From>, (sites + threads - 1) / threads, threads, stream, to, from, to_shape,
                              from_shape, parity, vectors, status, obedience, sites);
  runtime::check_launch("transfer.convert");
}

#define QUARKSTAR_CONVERT(To, From)                                                                                                  \
  template void launch_convert<3>(To*, const From*, const BlockShape&, const BlockShape&, int, int, const VectorStatus*, Obedience,  \
                                  runtime::CudaStream);                                                                              \
  template void launch_convert<12>(To*, const From*, const BlockShape&, const BlockShape&, int, int, const VectorStatus*, Obedience, \
                                   runtime::CudaStream);
#define QUARKSTAR_CONVERT_TO(To) \
  QUARKSTAR_CONVERT(To, Half)    \
  QUARKSTAR_CONVERT(To, float)   \
  QUARKSTAR_CONVERT(To, double)
QUARKSTAR_CONVERT_TO(Half)
QUARKSTAR_CONVERT_TO(float)
QUARKSTAR_CONVERT_TO(double)

}  // namespace quarkstar::cuda
