#include "codelets/arch/cuda_words.cuh"
#include "codelets/field/field.hpp"
#include "codelets/field/transfer_cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"

#include <type_traits>

namespace quarkstar::cuda {
namespace {

using transfer::ArrayTask;

/// One thread per lane of an outer site: of vectors in lanes one per vector of a group. A thread reads or writes the numbers of a whole
/// site, which half precision needs, and which are whole sectors of L2 in all layouts but a propagator's. F is const to store.
template <class F, int Components>
__global__ void array_kernel(F* field, const __grid_constant__ ArrayTask task, std::uint32_t threads) {
  runtime::wait_for_predecessors();
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= threads) return;
  using Word = std::remove_const_t<F>;
  constexpr int words = NumberFormat<Word>::site_words(2 * Components), head = site::head_words<Word>;
  const VectorPlaces& places = task.places;
  const int outer = static_cast<int>(id) / places.width(), in_group = static_cast<int>(id) % places.width(),
            lane = places.lane_of_thread(in_group);
  Coord x = task.shape.local_site({task.parity, outer, lane});
  for (int mu = 0; mu < 4; ++mu) x[mu] += task.origin[mu];
  const std::size_t place = task.place(x);
  for (int group = 0; group < places.groups(); ++group) {
    const int v = places.vector_of_thread(in_group, group);
    F* const there = field + places.group(words, outer, v);
    Word site[words];
    with_chunk<Word, Components>(places.chunked != 0, [&](auto chunk) {
      if constexpr (std::is_const_v<F>) {
        load_words<chunk, head, CachedLoads>(site, there, places.width(), places.lane_of(v, lane));
        transfer::store_site<Word, Components>(task.arrays, v, place, site);
      } else {
        transfer::load_site<Word, Components>(site, task.arrays, v, place);
        store_words<chunk, head>(there, places.width(), places.lane_of(v, lane), site);
      }
    });
  }
}

template <class F>
void launch_arrays(F* field, const ArrayTask& task, runtime::CudaStream stream) {
  constexpr unsigned width = 128;
  const auto threads = static_cast<std::uint32_t>(task.shape.outer_sites() * task.places.width());
  with_components(task.arrays.components, [&](auto components) {
    runtime::launch_overlapping(array_kernel<F, components>, (threads + width - 1) / width, width, stream, field, task, threads);
  });
  runtime::check_launch("transfer of arrays");
}

}  // namespace

template <class F>
void launch_load(F* field, const ArrayTask& task, runtime::CudaStream stream) {
  launch_arrays(field, task, stream);
}
template <class F>
void launch_store(const F* field, const ArrayTask& task, runtime::CudaStream stream) {
  launch_arrays(field, task, stream);
}

#define QUARKSTAR_ARRAYS(F)                                             \
  template void launch_load(F*, const ArrayTask&, runtime::CudaStream); \
  template void launch_store(const F*, const ArrayTask&, runtime::CudaStream);
QUARKSTAR_ARRAYS(Half)
QUARKSTAR_ARRAYS(float)
QUARKSTAR_ARRAYS(double)

}  // namespace quarkstar::cuda
