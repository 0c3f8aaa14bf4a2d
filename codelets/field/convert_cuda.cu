#include "codelets/arch/cuda_words.cuh"
#include "codelets/field/convert_cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar::cuda {
namespace {

/// One thread per lane of an outer site of `to`: of vectors in lanes one per vector of a group.
template <int Components, class To, class From>
__global__ void convert_kernel(To* to, const From* from, const __grid_constant__ BlockOfVectors to_block,
                               const __grid_constant__ BlockOfVectors from_block, int parity, const VectorStatus* status,
                               Obedience obedience, std::uint32_t threads) {
  runtime::wait_for_predecessors();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const std::int32_t* left_out = obedience.left_out(status);
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= threads) return;
  const VectorPlaces &to_places = to_block.places, &from_places = from_block.places;
  const int outer = static_cast<int>(id) / to_places.width(), in_group = static_cast<int>(id) % to_places.width();
  const int lane = to_places.lane_of_thread(in_group);
  const SitePosition source = from_block.shape.locate(to_block.shape.local_site({parity, outer, lane}));
  constexpr int to_words = NumberFormat<To>::site_words(2 * Components), from_words = NumberFormat<From>::site_words(2 * Components);
  for (int group = 0; group < to_places.groups(); ++group) {
    const int v = to_places.vector_of_thread(in_group, group);
    if (left_out != nullptr && left_out[to_places.right_hand_side(v)] != 0) continue;
    From read[from_words];
    with_chunk<From, Components>(from_places.chunked != 0, [&](auto chunk) {
      load_words<chunk, site::head_words<From>, CachedLoads>(read, from + from_places.group(from_words, source.outer, v),
                                                             from_places.width(), from_places.lane_of(v, source.lane));
    });
    To written[to_words];
    convert_vector<Components, To, From>(written, 1, read, 1);
    with_chunk<To, Components>(to_places.chunked != 0, [&](auto chunk) {
      store_words<chunk, site::head_words<To>>(to + to_places.group(to_words, outer, v), to_places.width(), to_places.lane_of(v, lane),
                                               written);
    });
  }
}

}  // namespace

template <int Components, class To, class From>
void launch_convert(To* to, const From* from, const BlockOfVectors& to_block, const BlockOfVectors& from_block, int parity,
                    const VectorStatus* status, Obedience obedience, runtime::CudaStream stream) {
  constexpr unsigned width = 256;
  const auto threads = static_cast<std::uint32_t>(to_block.shape.outer_sites() * to_block.places.width());
  runtime::launch_overlapping(convert_kernel<Components, To, From>, (threads + width - 1) / width, width, stream, to, from, to_block,
                              from_block, parity, status, obedience, threads);
  runtime::check_launch("transfer.convert");
}

#define QUARKSTAR_CONVERT(To, From)                                                                                                     \
  template void launch_convert<3>(To*, const From*, const BlockOfVectors&, const BlockOfVectors&, int, const VectorStatus*, Obedience,  \
                                  runtime::CudaStream);                                                                                 \
  template void launch_convert<12>(To*, const From*, const BlockOfVectors&, const BlockOfVectors&, int, const VectorStatus*, Obedience, \
                                   runtime::CudaStream);
#define QUARKSTAR_CONVERT_TO(To) \
  QUARKSTAR_CONVERT(To, Half)    \
  QUARKSTAR_CONVERT(To, float)   \
  QUARKSTAR_CONVERT(To, double)
QUARKSTAR_CONVERT_TO(Half)
QUARKSTAR_CONVERT_TO(float)
QUARKSTAR_CONVERT_TO(double)

}  // namespace quarkstar::cuda
