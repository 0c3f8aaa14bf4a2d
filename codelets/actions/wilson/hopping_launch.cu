// The hopping kernels with a linear epilogue; the gathering of faces.
#include "codelets/actions/wilson/hopping_launch.cuh"

#include <algorithm>

namespace quarkstar::cuda {

namespace {

/// Threads of a block at most: no more than a block of the interior has, whose place it takes where one has ended.
constexpr int most_pack_threads = 256;

template <class F, int D, bool Chunked>
__global__ void __launch_bounds__(most_pack_threads)
    pack_kernel(const wilson::PackArguments<F> a, Real<F> sign, int lanes, std::uint32_t threads, const std::int32_t* stop) {
  using V = Lane<Real<F>>;
  constexpr bool forward = D % 2 == 0;
  runtime::wait_for_predecessors();
  if (stop != nullptr && *stop != 0) return;
  const int width = a.stride == 0 ? lanes : lanes / 2;
  for (std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x; id < threads; id += gridDim.x * blockDim.x) {
    const std::uint32_t row = id / width, i = row / a.vectors, v = row % a.vectors;
    const int face_lane = static_cast<int>(id % width);
    // The inverse of CudaNeighbours::replace_by_face: the bit of the edge goes back in. A reader that looks forward needs our lower half.
    const int lane =
        a.stride == 0 ? face_lane : (face_lane & (a.stride - 1)) | ((face_lane & ~(a.stride - 1)) << 1) | (forward ? 0 : a.stride);
    const std::size_t vector = static_cast<std::size_t>(a.sites[i]) * a.vectors + v;
    site::HalfSpinor<V> h;
    F words[spinor_words<F>];
    load_words<spinor_chunk<F, Chunked>, site::head_words<F>, CachedLoads>(words, a.in + vector * (spinor_words<F> * lanes), lanes, lane);
    read_projected_integers<D / 2, wilson::projector_of(D, 1)>(h, words, V{sign});
    V unit{1};
    if constexpr (is_half<F>) unit = unit_of(words, V::broadcast(site::link_unit));
    V of_face[wilson::face_words<F>];
    wilson::write_face_words<F, std::uint32_t>(of_face, h, unit);
    Real<F>* out = a.out + std::size_t{row} * wilson::face_words<F> * width + face_lane;
    site::unroll<wilson::face_words<F>>([&](auto w) { out[w * width] = of_face[w].v; });
  }
}

}  // namespace

template <class F>
void launch_pack(const wilson::PackChoice& choice, const wilson::PackArguments<F>& arguments, std::int64_t count, const std::int32_t* stop,
                 runtime::CudaStream stream) {
  if (count == 0) return;
  const std::int64_t threads = count * arguments.vectors * (arguments.stride == 0 ? choice.lanes : choice.lanes / 2);
  const unsigned block_threads = choice.remote ? most_pack_threads : 128;
  auto blocks = static_cast<unsigned>((threads + block_threads - 1) / block_threads);
  // The link between GPUs is the limit: so many blocks saturate it, and the other multiprocessors stay with the interior.
  constexpr unsigned remote_blocks = 64;
  if (choice.remote) blocks = std::min(blocks, remote_blocks);
  site::unroll<8>([&](auto d) {
    if (choice.direction != d) return;
    const auto launch = [&](auto chunked) {
      runtime::launch_overlapping(pack_kernel<F, d, chunked>, blocks, block_threads, stream, arguments, static_cast<Real<F>>(choice.sign),
                                  choice.lanes, static_cast<std::uint32_t>(threads), stop);
    };
    if (choice.chunked) launch(std::true_type{});
    else launch(std::false_type{});
  });
  runtime::check_launch("wilson pack");
}

#define QUARKSTAR_PACK_LAUNCH(F)                                                                                           \
  template void launch_pack(const wilson::PackChoice&, const wilson::PackArguments<F>&, std::int64_t, const std::int32_t*, \
                            runtime::CudaStream);
QUARKSTAR_PACK_LAUNCH(Half)
QUARKSTAR_PACK_LAUNCH(float)
QUARKSTAR_PACK_LAUNCH(double)

}  // namespace quarkstar::cuda

QUARKSTAR_HOPPING_LAUNCHES(quarkstar::stencil::LinearEpilogue);
