// Wilson's hops forward along one direction alone, of which multigrid's set-up makes the couplings between aggregates.
#include "codelets/actions/wilson/hopping_cuda.cuh"
#include "codelets/actions/wilson/single_hop_cuda.hpp"

namespace quarkstar::cuda {
namespace {

constexpr unsigned threads_of_block = 128;

/// One thread per lane of an outer site of the list (x) and vector (y).
template <class F, int W, int Reals, bool Chunked>
__global__ void __launch_bounds__(threads_of_block)
    single_hop_kernel(const __grid_constant__ wilson::HoppingArguments<F> a, int forward_along, F sign, std::uint32_t threads,
                      const VectorStatus* status, Obedience obedience) {
  using V = Lane<F>;
  using Links = LinksInMemory<F, W, Reals, Chunked, CachedLoads>;
  runtime::wait_for_predecessors();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x, i = id / W;
  const int lane = static_cast<int>(id % W), vector = static_cast<int>(blockIdx.y);
  const std::int32_t* left_out = obedience.left_out(status);
  if (id >= threads || (left_out != nullptr && left_out[vector] != 0)) return;
  const std::size_t outer = a.sites != nullptr ? __ldg(a.sites + i) : i;
  CudaNeighbours<F, W, all_directions, Chunked, Links> neighbours{a,
                                                                  a.neighbours + outer * 8,
                                                                  a.faces_at + std::size_t{i} * 8,
                                                                  {a.links + outer * (8 * NumberFormat<F>::link_words(Reals) * W), lane},
                                                                  lane,
                                                                  vector,
                                                                  a.vectors,
                                                                  V{sign}};
  site::Spinor<V> r;
  site::unroll<12>([&](auto c) { r[c / 3][c % 3] = {V{0}, V{0}}; });
  site::unroll<4>([&](auto mu) {
    if (mu == forward_along) neighbours.template add_hop<2 * mu>(r);
  });
  const std::size_t at = (outer * static_cast<std::size_t>(a.vectors) + static_cast<std::size_t>(vector)) * (spinor_words<F> * W);
  const SiteOfThread<F, 24, Chunked> site{nullptr, outer, vector, W, lane, W, lane};
  Summands<V> none;
  finish_site<stencil::LinearEpilogue, F, Chunked, CachedStores, CachedLoads>(a, r, at, site, nullptr, none);
}

}  // namespace

template <class F>
void launch_single_hop(const wilson::KernelChoice& choice, const wilson::HoppingArguments<F>& a, std::int64_t count,
                       const VectorStatus* status, Obedience obedience, runtime::CudaStream stream) {
  bool started = false;
  const auto consider = [&](auto w, auto reals, auto chunked) {
    if (choice.lanes != w || choice.link_reals != reals || choice.chunked != chunked) return;
    started = true;
    const auto threads = static_cast<std::uint32_t>(count * w);
    runtime::launch_overlapping(single_hop_kernel<F, w, reals, chunked>,
                                dim3((threads + threads_of_block - 1) / threads_of_block, static_cast<unsigned>(a.vectors)),
                                threads_of_block, stream, a, choice.forward_along, static_cast<F>(choice.sign), threads, status, obedience);
  };
  const auto over_lanes = [&](auto w, auto chunked) {
    consider(w, site::Index<18>{}, chunked);
    consider(w, site::Index<12>{}, chunked);
    consider(w, site::Index<8>{}, chunked);
  };
  over_lanes(site::Index<full_lanes<F>>{}, std::true_type{});
  over_lanes(site::Index<full_lanes<F>>{}, std::false_type{});
  over_lanes(site::Index<full_lanes<F> / 2>{}, std::false_type{});
  over_lanes(site::Index<1>{}, std::false_type{});
  if (!started) runtime::fail_as_defect("wilson single hop: no kernel of that kind was compiled");
  runtime::check_launch("wilson single hop");
}

#define QUARKSTAR_SINGLE_HOP_LAUNCH(F)                                                                                                \
  template void launch_single_hop(const wilson::KernelChoice&, const wilson::HoppingArguments<F>&, std::int64_t, const VectorStatus*, \
                                  Obedience, runtime::CudaStream);
QUARKSTAR_SINGLE_HOP_LAUNCH(float)
QUARKSTAR_SINGLE_HOP_LAUNCH(double)

}  // namespace quarkstar::cuda
