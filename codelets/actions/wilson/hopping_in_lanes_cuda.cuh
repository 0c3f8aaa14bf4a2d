#pragma once
// CUDA driver of the Wilson hopping term with vectors in lanes: one thread per vector of a group and site. A block marches over tiles of
// consecutive sites, whose neighbours then are in L1 for most hops, and the links of a tile, one lane for all vectors, come into shared
// memory by bulk copies while the tile before is computed.
#include "codelets/actions/wilson/hopping_cuda.cuh"
#include "codelets/actions/wilson/marches.hpp"
#include "codelets/arch/bulk_copies.cuh"
#include "codelets/arch/digit_sum.cuh"

namespace quarkstar::cuda {

/// G: vectors of a group.
template <class F, int G>
inline constexpr int tile_sites = wilson::tile_sites(G, sizeof(F) == 8);

/// Two tiles in shared memory: links as they are stored, and the entries of neighbours, on which every address in the field waits. Links
/// that a warp reads at once may be in the same banks; sites further apart, each a copy of its own, are 5 to 10 % slower (one H200).
template <class F, int G, int Reals>
struct Tiles {
  static constexpr int words = NumberFormat<F>::link_words(Reals), site_bytes = 8 * words * static_cast<int>(sizeof(F));
  alignas(16) unsigned char links[2][tile_sites<F, G>][site_bytes];
  alignas(16) std::uint32_t entries[2][tile_sites<F, G>][8];
  Arrival arrived[2];
};

/// Whether x and y of a tile come to shared memory while its hops are computed, where there is an x. With 12 vectors and links of 12 reals
/// registers and L1 have room for that (one H200, 32^4: hops with x 6 to 9 % faster; with 16 vectors 9 to 15 % slower, with 8 6 to 9 %;
/// links of 18 reals take more room, and were not measured).
template <class F, int G, int Reals>
inline constexpr bool can_bring_beside = G == 12 && Reals == 12 && sizeof(F) == 4;

/// One of them.
template <class F, int G>
inline constexpr int words_beside = tile_sites<F, G>* spinor_words<F>* G;

/// Those of one site.
template <class F, int Reals>
struct LinksOfSite {
  const F* links;
  __device__ __forceinline__ void load(site::Link<Lane<F>>& u, int direction) const {
    constexpr int words = NumberFormat<F>::link_words(Reals);
    F of_link[words];
    load_words<site::chunk_words<F>(words), 0, SharedLoads>(of_link, links + direction * words, 1, 0);
    site::load_link<F, Reals, site::PlainLoads>(u, of_link, 1);
  }
};

/// Number of the site at a position of the list.
template <class F>
__device__ __forceinline__ std::size_t outer_site(const stencil::Arguments<F>& a, std::uint32_t i) {
  return a.sites != nullptr ? __ldg(a.sites + i) : i;
}

/// The march of a block over `tiles` tiles from position `first` of `sites`, with G threads for each site of one. at_site(i, links,
/// entries_of): by all threads, at a position, or behind the last one, with the site's links; entries_of(outer): its entries of neighbours.
template <class F, int G, int Reals, class Arguments, class AtSite>
__device__ __forceinline__ void march_over_tiles(Tiles<F, G, Reals>& stored, const Arguments& a, std::uint32_t first, std::uint32_t sites,
                                                 std::uint32_t tiles, AtSite&& at_site) {
  using OfTiles = Tiles<F, G, Reals>;
  constexpr int at_a_time = tile_sites<F, G>;
  const int thread = static_cast<int>(threadIdx.x), s = thread / G;
  const auto left = static_cast<int>((min(sites - first, tiles * at_a_time) + at_a_time - 1) / at_a_time);
  const bool in_order = Arrival::bulk && a.sites == nullptr;
  const auto fetch = [&](int tile) {
    const std::uint32_t begin = first + tile * at_a_time, count = min(sites - begin, static_cast<std::uint32_t>(at_a_time));
    auto& links = stored.links[tile & 1];
    Arrival& arrived = stored.arrived[tile & 1];
    const auto bytes_of_entries = static_cast<std::uint32_t>(sizeof stored.entries[0][0]);
    if (thread == 0) arrived.expect(count * (OfTiles::site_bytes + (in_order ? bytes_of_entries : 0)));
    if (in_order) {
      if (thread == 0) {
        arrived.copy(links, a.links + std::size_t{begin} * (8 * OfTiles::words), count * OfTiles::site_bytes);
        arrived.copy(stored.entries[tile & 1], a.neighbours + std::size_t{begin} * 8, count * bytes_of_entries);
      }
    } else if (thread < at_a_time) {
      if (thread < count) arrived.copy(links[thread], a.links + outer_site(a, begin + thread) * (8 * OfTiles::words), OfTiles::site_bytes);
      arrived.done();
    }
  };
  if (thread == 0) {
    stored.arrived[0].init(at_a_time);
    stored.arrived[1].init(at_a_time);
  }
  __syncthreads();
  fetch(0);
  for (int tile = 0; tile < left; ++tile) {
    if (tile > 0) __syncthreads();  // nobody reads the tile before, or what came of it, any more
    if (tile + 1 < left) fetch(tile + 1);
    stored.arrived[tile & 1].wait(tile >> 1 & 1);
    at_site(first + tile * at_a_time + s, reinterpret_cast<const F*>(stored.links[tile & 1][s]),
            [&](std::size_t outer) -> const std::uint32_t* { return in_order ? stored.entries[tile & 1][s] : a.neighbours + outer * 8; });
  }
}

/// Those over so many sites.
template <class F, int InLanes>
struct Marches {
  std::uint32_t tiles;  ///< of a block
  unsigned blocks;      ///< of a group
  explicit Marches(std::int64_t sites) {
    constexpr std::int64_t at_a_time = tile_sites<F, InLanes>;
    const std::int64_t all_tiles = (sites + at_a_time - 1) / at_a_time, of_block = wilson::march_tiles(all_tiles, InLanes);
    tiles = static_cast<std::uint32_t>(of_block);
    blocks = static_cast<unsigned>((all_tiles + of_block - 1) / of_block);
  }
};

/// A block: G threads for each site of a tile. The blocks of a site's groups follow each other. G: vectors of a group. Beside:
/// can_bring_beside, of one group and without a list of sites.
template <class Epilogue, class F, int G, int Reals, unsigned Edged, bool Beside>
__global__ void __launch_bounds__(tile_sites<F, G>* G, 1)
    hopping_in_lanes_kernel(const __grid_constant__ wilson::ArgumentsOf<F, Epilogue> a, Real<F> sign, std::uint32_t sites,
                            std::uint32_t groups, std::uint32_t tiles, const VectorStatus* status, Obedience obedience, SumTable* tables) {
  using V = Lane<Real<F>>;
  using OfTiles = Tiles<F, G, Reals>;
  constexpr int at_a_time = tile_sites<F, G>;
  runtime::wait_for_predecessors();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  extern __shared__ __align__(128) unsigned char dynamic[];
  OfTiles& stored = *reinterpret_cast<OfTiles*>(dynamic);
  const int lane = static_cast<int>(threadIdx.x) % G;
  const int group = static_cast<int>(blockIdx.x % groups), vector = group * G + lane;
  const std::int32_t* left_out = obedience.left_out(status);
  const bool wanted_vector = left_out == nullptr || left_out[vector] == 0;
  F* const x_of_tile = reinterpret_cast<F*>(&stored + 1);
  F* const y_of_tile = a.y != a.x ? x_of_tile + words_beside<F, G> : x_of_tile;
  __shared__ Arrival beside;
  if (Beside && threadIdx.x == 0) beside.init(1);  // the march's own barriers come before others use it
  std::uint32_t parity = 0;
  // The summands of a thread are of one vector, so it adds digits until its march ends, and no thread waits for another.
  DigitSum sums[3];
  const int count = a.sums.count(1);
  unsigned added = 0, poisoned = 0;
  const auto at_site = [&](std::uint32_t i, const F* links, const auto& entries_of) {
    if (Beside && threadIdx.x == 0) {
      const auto bytes =
          static_cast<std::uint32_t>(min(sites - i, static_cast<std::uint32_t>(at_a_time)) * (spinor_words<F> * G * sizeof(F)));
      const bool has_y = a.y != nullptr && a.y != a.x;
      beside.expect(has_y ? 2 * bytes : bytes);
      beside.copy(x_of_tile, a.x + std::size_t{i} * (spinor_words<F> * G), bytes);
      if (has_y) beside.copy(y_of_tile, a.y + std::size_t{i} * (spinor_words<F> * G), bytes);
    }
    const auto wait_for_beside = [&] {
      if (Beside) beside.wait(parity);
      parity ^= 1;
    };
    if (i >= sites || !wanted_vector) return wait_for_beside();
    const std::size_t outer = outer_site(a, i);
    // L1 is for neighbours that are read again: not for what is a step back in the march, results, and y (one H200: 2 to 12 % faster).
    CudaNeighbours<F, G, Edged, true, LinksOfSite<F, Reals>, 0, true, PassingLoads> neighbours{
        a, entries_of(outer), a.faces_at + std::size_t{i} * 8, {links}, lane, group, static_cast<int>(groups), V{sign}};
    site::Spinor<V> r;
    neighbours.hopping_term(r);
    const std::size_t at = (outer * groups + group) * (spinor_words<F> * G);
    Summands<V> summands;
    wait_for_beside();
    if constexpr (Beside) {
      const int of_site = static_cast<int>(threadIdx.x) / G * (spinor_words<F> * G);
      const SiteOfThread<F, 24, true, false, SharedLoads> site{x_of_tile + of_site, outer, vector, G, lane, 1, 0};
      finish_site<Epilogue, F, true, PassingStores, SharedLoads>(a, r, at, site, y_of_tile + of_site, summands);
    } else {
      const SiteOfThread<F, 24, true> site{a.x + at, outer, vector, G, lane, 1, 0};
      finish_site<Epilogue, F, true, PassingStores, PassingLoads>(a, r, at, site, a.y + at, summands);
    }
    if (count == 0) return;
    F of_site[3];
    a.sums.wanted(summands.norm.v, summands.dot_re.v, summands.dot_im.v, of_site);
    double x[3];  // what nobody wants repeats the first
    site::unroll<3>([&](auto k) { x[k] = static_cast<double>(k < count ? of_site[k] : of_site[0]); });
    add_to_digits(sums, x, added, poisoned);
    ++added;
  };
  march_over_tiles(stored, a, blockIdx.x / groups * tiles * at_a_time, sites, tiles, at_site);
  if (added == 0) return;
  site::unroll<3>([&](auto k) {
    if (k >= count) return;
    runtime::BinnedSum total = sums[k].value(added);
    total.poisoned = static_cast<int>(poisoned >> k & 1);
    add_to_table(tables[k * a.vectors + vector], total);
  });
}

/// consider(vectors in lanes, reals of a link, directions with edges), constants all, for each kind of kernel.
template <class Consider>
void for_kinds_in_lanes(Consider&& consider) {
  const auto over_links = [&](auto of_group) {
    const auto over_edges = [&](auto reals) {
      consider(of_group, reals, std::integral_constant<unsigned, no_directions>{});
      consider(of_group, reals, std::integral_constant<unsigned, all_directions>{});
    };
    over_edges(site::Index<18>{});
    over_edges(site::Index<12>{});
  };
  over_links(site::Index<8>{});
  over_links(site::Index<12>{});
  over_links(site::Index<16>{});
}

template <class Epilogue, class F>
void launch_hopping_in_lanes(const wilson::KernelChoice& choice, const wilson::ArgumentsOf<F, Epilogue>& arguments, std::int64_t count,
                             const VectorStatus* status, Obedience obedience, runtime::CudaStream stream) {
  const bool edged = edged_directions(arguments) != 0;
  bool started = false;
  const int vectors = choice.vectors_in_lanes, groups = arguments.vectors / vectors;
  const auto consider = [&](auto of_group, auto reals, auto directions) {
    if (vectors != of_group || choice.link_reals != reals) return;
    if (edged != (directions != no_directions)) return;
    started = true;
    constexpr int at_a_time = tile_sites<F, of_group>;
    const Marches<F, of_group> marches(count);
    auto* kernel = hopping_in_lanes_kernel<Epilogue, F, of_group, reals, directions, false>;
    std::size_t bytes = sizeof(Tiles<F, of_group, reals>);
    if constexpr (can_bring_beside<F, of_group, reals>)
      if (arguments.x != nullptr && arguments.sites == nullptr && groups == 1 &&
          runtime::kernels_can_overlap()) {  // those have bulk copies
        kernel = hopping_in_lanes_kernel<Epilogue, F, of_group, reals, directions, true>;
        bytes += (arguments.y != nullptr && arguments.y != arguments.x ? 2 : 1) * words_beside<F, of_group> * sizeof(F);
      }
    runtime::launch_with_shared_memory(kernel, bytes, count * arguments.vectors >= runtime::least_overlapping,
                                       marches.blocks * static_cast<unsigned>(groups), static_cast<unsigned>(at_a_time * of_group), stream,
                                       arguments, static_cast<Real<F>>(choice.sign), static_cast<std::uint32_t>(count),
                                       static_cast<std::uint32_t>(groups), marches.tiles, status, obedience,
                                       arguments.sums.count(arguments.vectors) > 0 ? sum_tables() : nullptr);
  };
  for_kinds_in_lanes(consider);
  if (!started) runtime::fail_as_defect("wilson hopping: no kernel of that kind was compiled");
  runtime::check_launch("wilson hopping");
}

}  // namespace quarkstar::cuda

/// In a .cu: the launches of one format, with an epilogue.
#define QUARKSTAR_HOPPING_IN_LANES_LAUNCH(F, ...)                                                                  \
  template void quarkstar::cuda::launch_hopping_in_lanes<__VA_ARGS__, F>(                                          \
      const quarkstar::wilson::KernelChoice&, const quarkstar::wilson::ArgumentsOf<F, __VA_ARGS__>&, std::int64_t, \
      const quarkstar::VectorStatus*, quarkstar::Obedience, quarkstar::runtime::CudaStream)
