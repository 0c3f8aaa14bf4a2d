#pragma once
// CUDA driver of Wilson's hops of all slices with products with matrices in the fifth dimension behind them: a block has the slices of a
// right-hand side at an outer site, a thread for each lane and one slice, or more of them one after the other. The threads put the links of
// the site together for all slices; what becomes of the hops then meets in shared memory, and each result is written once.
#include "codelets/actions/domain_wall/slice_cuda.cuh"
#include "codelets/actions/wilson/hopping_cuda.cuh"

namespace quarkstar::cuda {

/// Threads of a block, and blocks of that size on a multiprocessor that registers must leave room for: 80 of them for a thread in half
/// precision, 96 in single, 255 in double.
template <class F>
inline constexpr int most_slice_threads = sizeof(Real<F>) == 8 ? 128
                                          : is_half<F>         ? 256
                                                               : 192;
template <class F>
inline constexpr int resident_slice_blocks = sizeof(Real<F>) == 8 ? 2 : 3;

/// The eight links of W lanes, put together.
template <class F, int W>
struct LinksForSlices {
  SharedNumber<F> numbers[8][numbers_for<F, 9>][W];
};
template <class F, int W>
struct LinksOfLane {
  using V = Lane<Real<F>>;
  const LinksForSlices<F, W>* shared;
  int lane;
  __device__ __forceinline__ void load(site::Link<V>& u, int direction) const {
    const SharedRow<F> row{&shared->numbers[direction][0][lane], W};
    site::unroll<9>([&](auto e) { u[e / 3][e % 3] = row.component(e); });
  }
};

/// Those of a direction to their place for all slices. reals: as they are stored.
template <class F, int W, bool Chunked>
__device__ __forceinline__ void share_link(LinksForSlices<F, W>& shared, const F* links, int reals, int direction, int lane) {
  const auto share = [&](auto stored) {
    site::Link<Lane<Real<F>>> u;
    LinksInMemory<F, W, stored, Chunked, PassingLoads>{links, lane}.load(u, direction);
    store_shared_row<F, 9>(&shared.numbers[direction][0][lane], W, [&](auto e) { return u[e / 3][e % 3]; });
  };
  if (reals == 18) share(site::Index<18>{});
  else if (reals == 12) share(site::Index<12>{});
  else share(site::Index<8>{});
}

/// A block: threadIdx.x is the lane, .y the slice, or the first of several that are so many apart. The blocks of a site's right-hand sides
/// follow each other, so that they find its links in L2.
template <class F, int W, unsigned Edged, bool Chunked, int Sign>
__global__ void __launch_bounds__(most_slice_threads<F>, resident_slice_blocks<F>)
    slice_hopping_kernel(const __grid_constant__ wilson::ArgumentsOf<F, domain_wall::SliceEpilogue> a, Real<F> sign, int link_reals,
                         const VectorStatus* status, Obedience obedience, SumTable* tables) {
  using T = Real<F>;
  using V = Lane<T>;
  using domain_wall::Form;
  constexpr int components = domain_wall::components;
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ __align__(16) T exchange[3 * most_slice_threads<F>];
  runtime::wait_for_predecessors();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const domain_wall::Products<F>& products = a.epilogue;
  const int n = products.vectors, slices = products.slices, lane = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y),
            together = static_cast<int>(blockDim.y);
  const std::uint32_t i = blockIdx.x / n;
  const int vector = static_cast<int>(blockIdx.x - i * n);
  if (const std::int32_t* left_out = obedience.left_out(status); left_out != nullptr && left_out[vector] != 0) return;
  const std::uint32_t outer = a.sites != nullptr ? __ldg(a.sites + i) : i;
  const auto place = [&](int slice) {
    return (std::size_t{outer} * a.vectors + slice * n + vector) * static_cast<std::size_t>(spinor_words<F> * W);
  };

  auto& links = *reinterpret_cast<LinksForSlices<F, W>*>(memory);
  for (int d = y; d < 8; d += together)
    share_link<F, W, Chunked>(links, a.links + std::size_t{outer} * (8 * NumberFormat<F>::link_words(link_reals) * W), link_reals, d, lane);
  __syncthreads();
  // Where each thread has one slice, the results of the hops take the place of the links, and the products with a dense matrix that of the
  // hops.
  const bool once = together >= slices;
  auto* const begin = reinterpret_cast<SharedNumber<F>*>(memory + (once ? 0 : sizeof links)) + lane;
  const SliceTile<F> tile{begin, W}, behind{begin + (once ? 0 : slices * SliceTile<F>::numbers * W), W};
#pragma unroll 1
  for (int first = 0; first < slices; first += together) {
    const int s = first + y;
    site::Complex<V> z[components];
    if (s < slices) {
      CudaNeighbours<F, W, Edged, Chunked, LinksOfLane<F, W>, Sign> neighbours{
          a,      a.neighbours + std::size_t{outer} * 8, a.faces_at + std::size_t{i} * 8, {&links, lane}, lane, s * n + vector, a.vectors,
          V{sign}};
      site::Spinor<V> r;
      neighbours.hopping_term(r);
      site::unroll<components>([&](auto c) { z[c] = r[c / 3][c % 3]; });
      stencil::LinearEpilogue::apply(z, a, SiteOfThread<F, 24, Chunked>{a.x + place(s), outer, s * n + vector, W, lane, W, lane});
    }
    if (once) __syncthreads();
    if (s < slices) tile.store(s, z);
  }
  __syncthreads();
  const bool dense = products.first.form == Form::dense;
  if (dense) multiply_slices(behind, tile, once, products.first, vector, slices);

#pragma unroll 1
  for (int first = 0; first < slices; first += together) {
    const int s = first + y;
    domain_wall::Summands<V> summands;
    if (s < slices) {
      site::Complex<V> z[components];
      const auto add = [&](bool is_first, const domain_wall::Product<F>& product) {
        if (product.field != nullptr)
          domain_wall::add_sparse(z, is_first, product, vector, s, slices,
                                  [&](int slice) { return SpinorOfSlice<F, Chunked>(product.field + place(slice), W, lane); });
        else domain_wall::add_sparse(z, is_first, product, vector, s, slices, tile);
      };
      if (dense) behind.load(s, z);
      else add(true, products.first);
      if (products.second.form != Form::none) add(false, products.second);
      store_slice<F, Chunked>(a.out + place(s), W, lane, z);
      if (a.sums.norm) summands.add_norm(z);
      if (a.sums.dot) summands.add_dot(z, SpinorOfSlice<F, Chunked>(a.y + place(s), W, lane));
    }
    if (!a.sums.norm && !a.sums.dot) continue;
    T x[3];
    const int count = a.sums.wanted(summands.norm.v, summands.re.v, summands.im.v, x);
    if (first > 0) __syncthreads();  // nobody reads the summands of slices before any more
    add_to_tables(x, count, y * W + lane, exchange, [&](int, int sum) { return tables + sum * n + vector; });
  }
}

template <class F>
void launch_slice_hopping(const wilson::KernelChoice& choice, const wilson::ArgumentsOf<F, domain_wall::SliceEpilogue>& arguments,
                          std::int64_t count, const VectorStatus* status, Obedience obedience, runtime::CudaStream stream) {
  if (count == 0) return;
  const int slices = arguments.epilogue.slices;
  const unsigned edged = edged_directions(arguments);
  bool started = false;
  const auto start = [&](auto w, auto directions, auto chunked) {
    if (choice.lanes != w || choice.chunked != chunked || started) return;
    started = true;
    constexpr int a_warp = arch::warp_threads / w;
    int together = slices;  // in whole warps
    for (int passes = 1; passes == 1 || together * w > most_slice_threads<F>; ++passes)
      together = ((slices + passes - 1) / passes + a_warp - 1) / a_warp * a_warp;
    const std::size_t of_links = sizeof(LinksForSlices<F, w>),
                      of_tile = static_cast<std::size_t>(slices * SliceTile<F>::numbers * w) * sizeof(SharedNumber<F>);
    // Where a thread has several slices, a dense product cannot take the place of the hops.
    const std::size_t of_tiles = (arguments.epilogue.first.form == domain_wall::Form::dense ? 2 : 1) * of_tile;
    const auto launch = [&](auto sign) {
      runtime::launch_with_shared_memory(
          slice_hopping_kernel<F, w, directions, chunked, sign>, together >= slices ? std::max(of_links, of_tile) : of_links + of_tiles,
          count * w * arguments.vectors >= runtime::least_overlapping, static_cast<unsigned>(count * arguments.epilogue.vectors),
          dim3(w, static_cast<unsigned>(together)), stream, arguments, static_cast<Real<F>>(choice.sign), choice.link_reals, status,
          obedience, arguments.sums.count(1) > 0 ? sum_tables() : nullptr);
    };
    with_sign<F, chunked, false>(choice.sign, launch);
  };
  using None = std::integral_constant<unsigned, no_directions>;
  using TimesAlone = std::integral_constant<unsigned, both_times>;
  using All = std::integral_constant<unsigned, all_directions>;
  // What is rare has fewer kernels: odd extents, and blocks of a CPU's layout.
  if (edged == 0) start(site::Index<full_lanes<F>>{}, None{}, std::true_type{});
  if ((edged & ~both_times) == 0) start(site::Index<full_lanes<F>>{}, TimesAlone{}, std::true_type{});
  start(site::Index<full_lanes<F>>{}, All{}, std::true_type{});
  start(site::Index<full_lanes<F>>{}, All{}, std::false_type{});
  start(site::Index<full_lanes<F> / 2>{}, All{}, std::false_type{});
  start(site::Index<1>{}, All{}, std::false_type{});
  if (!started) runtime::fail_as_defect("domain-wall hopping: no kernel of that kind was compiled");
  runtime::check_launch("domain-wall hopping");
}

}  // namespace quarkstar::cuda

/// In a .cu: the launches of one format.
#define QUARKSTAR_SLICE_HOPPING_LAUNCH(F)                                                                                      \
  template void quarkstar::cuda::launch_slice_hopping<F>(                                                                      \
      const quarkstar::wilson::KernelChoice&, const quarkstar::wilson::ArgumentsOf<F, quarkstar::domain_wall::SliceEpilogue>&, \
      std::int64_t, const quarkstar::VectorStatus*, quarkstar::Obedience, quarkstar::runtime::CudaStream)
