#pragma once
// CUDA driver of Wilson's hops of all slices with products with matrices in the fifth dimension behind them, where the lanes hold the
// slices: blocks march over tiles of sites as those of Wilson's hops with vectors in lanes.
#include "codelets/actions/domain_wall/slices_in_lanes_cuda.cuh"
#include "codelets/actions/wilson/hopping_in_lanes_cuda.cuh"

namespace quarkstar::cuda {

/// Asks for `bytes` at p, multiples of 16 both, in L2; nothing before compute capability 9.0.
__device__ __forceinline__ void prefetch_to_l2([[maybe_unused]] const void* p, [[maybe_unused]] std::uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(p), "r"(bytes) : "memory");
#endif
}

/// What a block has in shared memory behind its tiles: hops, where threads need those of others, else what stands beside them, and the
/// matrix of a dense product. Both, for which L1 has less room, are 3 to 8 % slower than the latter from L2 (one H200).
struct SharedSlices {
  bool hops, beside, matrix;
  template <class F>
  QUARKSTAR_HD explicit SharedSlices(const domain_wall::Products<F>& products)
      : hops(needs_others(products.first) || needs_others(products.second)),
        beside(!hops && (products.first.field != nullptr || products.second.field != nullptr)),
        matrix(products.first.form == domain_wall::Form::dense) {}

 private:
  template <class F>
  static QUARKSTAR_HD bool needs_others(const domain_wall::Product<F>& product) {
    return product.field == nullptr && (product.form == domain_wall::Form::dense || product.form == domain_wall::Form::neighbours);
  }
};

/// A spinor in registers, as a reader.
template <class V>
struct OwnSpinor {
  const site::Complex<V> (&z)[domain_wall::components];
  __device__ __forceinline__ const site::Complex<V>& component(int c) const { return z[c]; }
};

/// A block: L threads for each site of a tile, of one right-hand side. The blocks of a site's right-hand sides follow each other. Where
/// sums are taken the summands take the place of the slices.
template <class F, int L, int Reals, unsigned Edged>
__global__ void __launch_bounds__(tile_sites<F, L>* L, 1)
    slice_hopping_in_lanes_kernel(const __grid_constant__ wilson::ArgumentsOf<F, domain_wall::SliceEpilogue> a, Real<F> sign,
                                  std::uint32_t sites, std::uint32_t tiles, const VectorStatus* status, Obedience obedience,
                                  SumTable* tables) {
  using V = Lane<Real<F>>;
  using domain_wall::Form;
  using OfTiles = Tiles<F, L, Reals>;
  using Slices = SlicesOfSites<F, L, tile_sites<F, L>>;
  runtime::wait_for_predecessors();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  extern __shared__ __align__(128) unsigned char dynamic[];
  OfTiles& stored = *reinterpret_cast<OfTiles*>(dynamic);
  const domain_wall::Products<F>& products = a.epilogue;
  const int n = products.vectors, slice = static_cast<int>(threadIdx.x) % L, vector = static_cast<int>(blockIdx.x % n);
  if (const std::int32_t* left_out = obedience.left_out(status); left_out != nullptr && left_out[vector] != 0) return;
  const SharedSlices has(products);
  unsigned char* const behind = dynamic + sizeof(OfTiles);
  const Slices shared(behind);
  auto* const matrix = reinterpret_cast<F*>(behind + Slices::bytes);
  const F* const beside = products.first.field != nullptr ? products.first.field : products.second.field;
  if (has.matrix) Slices::bring_matrix(matrix, products.first, vector);
  const auto at_site = [&](std::uint32_t i, const F* links, const auto& entries_of) {
    const bool there = i < sites;
    const std::size_t outer = outer_site(a, there ? i : sites - 1);
    const std::size_t at = (outer * n + vector) * (spinor_words<F> * L);
    if (there && has.beside) shared.bring(beside + at);
    else if (there && beside != nullptr && slice == 0) prefetch_to_l2(beside + at, spinor_words<F> * L * sizeof(F));
    site::Complex<V> z[domain_wall::components];
    if (there) {
      CudaNeighbours<F, L, Edged, true, LinksOfSite<F, Reals>, 0, true> neighbours{
          a, entries_of(outer), a.faces_at + std::size_t{i} * 8, {links}, slice, vector, n, V{sign}};
      site::Spinor<V> r;
      neighbours.hopping_term(r);
      site::unroll<domain_wall::components>([&](auto c) { z[c] = r[c / 3][c % 3]; });
      stencil::LinearEpilogue::apply(z, a, SiteOfThread<F, 24, true>{a.x + at, outer, vector * L + slice, L, slice, 1, 0});
      if (has.hops) shared.store(z);
    }
    if (has.beside) wait_for_own_copies();
    shared.meet();
    domain_wall::Summands<V> summands;
    if (there) {
      site::Complex<V> hops[domain_wall::components];
      site::unroll<domain_wall::components>([&](auto c) { hops[c] = z[c]; });
      const auto add = [&](bool is_first, const domain_wall::Product<F>& product) {
        const auto add_of = [&](auto&& at_slice) { domain_wall::add_sparse(z, is_first, product, vector, slice, L, at_slice); };
        if (product.field != nullptr && !has.beside) add_of([&](int other) { return SpinorOfSlice<F, true>(beside + at, L, other); });
        else if (product.field == nullptr && !has.hops) add_of([&](int) { return OwnSpinor<V>{hops}; });
        else add_of(shared);
      };
      if (has.matrix) shared.multiply(z, matrix);
      else add(true, products.first);
      if (products.second.form != Form::none) add(false, products.second);
      store_slice<F, true>(a.out + at, L, slice, z);
      if (a.sums.norm) summands.add_norm(z);
      if (a.sums.dot) summands.add_dot(z, SpinorOfSlice<F, true>(a.y + at, L, slice));
    }
    if (!a.sums.norm && !a.sums.dot) return;
    F x[3];
    const int count = a.sums.wanted(summands.norm.v, summands.re.v, summands.im.v, x);
    __syncthreads();  // nobody reads slices any more
    add_to_tables(x, count, static_cast<int>(threadIdx.x), reinterpret_cast<F*>(behind),
                  [&](int, int sum) { return tables + sum * n + vector; });
  };
  march_over_tiles(stored, a, blockIdx.x / n * tiles * tile_sites<F, L>, sites, tiles, at_site);
}

template <class F>
void launch_slice_hopping_in_lanes(const wilson::KernelChoice& choice, const wilson::ArgumentsOf<F, domain_wall::SliceEpilogue>& arguments,
                                   std::int64_t count, const VectorStatus* status, Obedience obedience, runtime::CudaStream stream) {
  if (count == 0) return;
  const bool edged = edged_directions(arguments) != 0;
  bool started = false;
  const auto consider = [&](auto slices, auto reals, auto directions) {
    if (arguments.epilogue.slices != slices || choice.link_reals != reals || edged != (directions != no_directions)) return;
    started = true;
    using Slices = SlicesOfSites<F, slices, tile_sites<F, slices>>;
    const SharedSlices has(arguments.epilogue);
    const std::size_t of_sums = sizeof(F) * static_cast<std::size_t>(arguments.sums.count(1) * Slices::threads),
                      of_slices = (has.hops || has.beside ? Slices::bytes : 0) + (has.matrix ? Slices::bytes_of_matrix : 0),
                      behind = std::max(of_sums, of_slices);
    const Marches<F, slices> marches(count);
    runtime::launch_with_shared_memory(
        slice_hopping_in_lanes_kernel<F, slices, reals, directions>, sizeof(Tiles<F, slices, reals>) + behind,
        count * arguments.vectors >= runtime::least_overlapping, marches.blocks * static_cast<unsigned>(arguments.epilogue.vectors),
        static_cast<unsigned>(Slices::threads), stream, arguments, static_cast<Real<F>>(choice.sign), static_cast<std::uint32_t>(count),
        marches.tiles, status, obedience, arguments.sums.count(1) > 0 ? sum_tables() : nullptr);
  };
  for_kinds_in_lanes(consider);
  if (!started) runtime::fail_as_defect("domain-wall hopping: no kernel of that kind was compiled");
  runtime::check_launch("domain-wall hopping");
}

}  // namespace quarkstar::cuda

/// In a .cu: the launches of one format.
#define QUARKSTAR_SLICE_HOPPING_IN_LANES_LAUNCH(F)                                                                             \
  template void quarkstar::cuda::launch_slice_hopping_in_lanes<F>(                                                             \
      const quarkstar::wilson::KernelChoice&, const quarkstar::wilson::ArgumentsOf<F, quarkstar::domain_wall::SliceEpilogue>&, \
      std::int64_t, const quarkstar::VectorStatus*, quarkstar::Obedience, quarkstar::runtime::CudaStream)
