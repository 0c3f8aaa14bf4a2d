#pragma once
// CUDA driver of the staggered Dslash: one thread per lane of an outer site and group of vectors, around the same site body as the CPU. A
// thread holds a link in registers and multiplies it with every vector of its group; the groups of a site are neighbours in a warp, which
// loads a link once for two of them.
#include "codelets/actions/staggered/dslash_cuda.hpp"
#include "codelets/actions/staggered/room.hpp"
#include "codelets/actions/staggered/staggered_site.hpp"
#include "codelets/arch/cuda.cuh"
#include "codelets/arch/cuda_sum.cuh"
#include "codelets/lattice/neighbour_entry.hpp"
#include "runtime/gpu/cuda_launch.cuh"

#include <algorithm>

namespace quarkstar::cuda {

/// The neighbours of one lane of an outer site, and the links to them. W: lanes of the block; 0: known at run time only.
/// Faced: directions (a bit each) that may have a face. No hop takes a branch, so that the compiler can load the next direction's data
/// while it computes this one. Links: how links are loaded.
template <class F, int W, int LongReals, unsigned Faced, class Links>
struct ColourHops {
  using T = Real<F>;
  using V = Lane<T>;
  using Vector = site::ColourVector<V>;
  using FatLink = site::Link<V>;
  using FarLink = site::Link<V>;
  static constexpr bool has_far = LongReals > 0, in_units = is_half<F>;
  static constexpr int fat_words = NumberFormat<F>::link_words(18), far_words = NumberFormat<F>::link_words(LongReals);
  static constexpr int vector_words = staggered::vector_words<F>;
  const staggered::DslashArguments<F>& a;
  std::size_t outer, position;
  int lanes_at_run_time, lane, first;

  /// Where the vectors of the hop whose link was loaded last are. One address for all; what differs goes into the instructions as a
  /// constant. An address each cost a fifth of all instructions, and so many registers that eight vectors did not fit (one H200: 14117
  /// GFLOP/s became 15897).
  struct Neighbour {
    const F* vectors;
    int lanes;  ///< of a face fewer than of a site
  } neighbour{};

  __device__ __forceinline__ int lanes() const { return W > 0 ? W : lanes_at_run_time; }

  /// A loop that the compiler unrolls when it has simplified the body: written out it becomes the same code in several times the time.
  template <class Body>
  __device__ __forceinline__ void for_directions(Body&& body) const {
#pragma unroll
    for (int d = 0; d < 8; ++d) body(d);
  }
  __device__ __forceinline__ void fat_link(site::Link<V>& u, int d) {
    find(a.neighbours, a.faces_at, d);
    site::load_link<F, 18, Links>(u, a.links + (outer * 8 + d) * (fat_words * lanes()) + lane, lanes());
  }
  __device__ __forceinline__ void far_link(site::Link<V>& u, int d) {
    find(a.far, a.far_at, d);
    site::load_long_link<F, LongReals, Links>(u, V{a.long_factor}, a.far_links + (outer * 8 + d) * (far_words * lanes()) + lane, lanes());
  }
  __device__ __forceinline__ V near_factor() const { return {a.near_factor}; }
  __device__ __forceinline__ void near(Vector& h, int d, int v) const { read(h, d, v); }
  __device__ __forceinline__ void far(Vector& h, int d, int v) const { read(h, d, v); }

 private:
  __device__ __forceinline__ void find(const std::uint32_t* table, const std::uint32_t* faces_at, int d) {
    const std::uint32_t entry = __ldg(table + outer * 8 + d);
    const int stride = a.stride[d / 2];
    const auto from = static_cast<unsigned>((entry & neighbour_entry::exchange) != 0 ? lane ^ stride : lane);
    // In bytes and with 32-bit factors a product and a sum are one instruction; n vectors of a site take 32 KiB at most.
    const auto number_bytes = static_cast<std::uint32_t>(sizeof(F));
    const auto site_bytes = static_cast<std::uint32_t>(a.vectors * (vector_words * lanes())) * number_bytes;
    const auto* of_group = reinterpret_cast<const char*>(a.in + first * (vector_words * lanes()));
    neighbour = {reinterpret_cast<const F*>(of_group + std::uint64_t{from} * number_bytes +
                                            std::uint64_t{entry >> neighbour_entry::shift} * site_bytes),
                 lanes()};
    if ((Faced >> d & 1) == 0) return;
    const bool from_face = (entry & neighbour_entry::face) != 0 && (stride == 0 || ((lane & stride) != 0) == (d % 2 == 0));
    const int width = stride == 0 ? lanes() : lanes() / 2;
    const int face_lane = stride == 0 ? lane : (lane & (stride - 1)) | ((lane >> 1) & ~(stride - 1));
    const std::uint32_t place = from_face ? faces_at[position * 8 + d] : 0;  // there is no table where nothing is cut
    const F* of_face =
        reinterpret_cast<const F*>(a.faces[d]) + (static_cast<std::size_t>(place) * a.vectors + first) * (vector_words * width) + face_lane;
    neighbour = {from_face ? of_face : neighbour.vectors, from_face ? width : lanes()};
  }

  __device__ __forceinline__ void read(Vector& h, int d, int v) const {
    const int stored_lanes = (Faced >> d & 1) == 0 ? lanes() : neighbour.lanes;
    const site::SiteReader<F, V, CachedLoads> stored(neighbour.vectors + v * vector_words * stored_lanes, stored_lanes);
    site::unroll<3>([&](auto c) { h[c] = stored.component(c); });
  }
};

template <class F, int Count>
inline constexpr staggered::Room room = staggered::room_of(sizeof(Real<F>) == 8, is_half<F>, Count);

/// A block: threadIdx.x is the lane, .y the group of Count vectors, .z the site, so that the groups of a site share its links in one load
/// of a warp. The last group may overlap the one before it (its results are the same), but adds only what is its own to the sums.
template <class F, int W, int LongReals, int Count, unsigned Faced>
__global__ void __launch_bounds__(room<F, Count>.threads, room<F, Count>.blocks)
    dslash_kernel(const __grid_constant__ staggered::DslashArguments<F> a, std::uint32_t sites, const VectorStatus* status,
                  Obedience obedience, SumTable* tables) {
  using V = Lane<Real<F>>;
  runtime::wait_for_predecessors();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const int lanes = W > 0 ? W : static_cast<int>(blockDim.x), lane = static_cast<int>(threadIdx.x);
  const std::uint32_t i = blockIdx.x * blockDim.z + threadIdx.z;
  const int own = static_cast<int>(threadIdx.y) * Count, first = min(own, a.vectors - Count);
  bool wanted = i < sites;
  if (const std::int32_t* left_out = obedience.left_out(status); wanted && left_out != nullptr) {
    bool any = false;
    for (int v = 0; v < Count; ++v) any = any || left_out[first + v] == 0;
    wanted = any;
  }
  V norm[Count], dot[Count];
  site::unroll<Count>([&](auto v) { norm[v] = dot[v] = V{0}; });
  if (wanted) {
    const std::size_t outer = a.sites != nullptr ? __ldg(a.sites + i) : i;
    // With one vector, and in half precision, plain streaming is 2 % faster; with several, links in L1 and results in the way of the inputs
    // in L2 cost up to 6 % (one H200).
    constexpr bool passing = Count > 1 && !is_half<F>;
    using Links = std::conditional_t<passing, PassingLoads, StreamedLoads>;
    ColourHops<F, W, LongReals, Faced, Links> hops{a, outer, i, lanes, lane, first};
    site::ColourVector<V> r[Count];
    staggered::dslash_term(r, hops);
    const int words = staggered::vector_words<F> * lanes;
    const std::size_t of_site = (outer * a.vectors + first) * words + lane;
    const auto at = [&](int v) { return of_site + static_cast<std::size_t>(v) * words; };
    // All loads before the first store: the compiler may not move a load past one. Each question is asked once for all vectors.
    site::unroll<Count>([&](auto v) {
      const V scale{a.scale[first + v]};
      site::unroll<3>([&](auto c) { r[v][c] = {scale * r[v][c].re, scale * r[v][c].im}; });
    });
    if (a.x != nullptr)
      site::unroll<Count>([&](auto v) {
        const V diagonal{a.diagonal[first + v]};
        const site::SiteReader<F, V, Links> x(a.x + at(v), lanes);
        site::unroll<3>([&](auto c) {
          const site::Complex<V> value = x.component(c);
          r[v][c] = {fma(diagonal, value.re, r[v][c].re), fma(diagonal, value.im, r[v][c].im)};
        });
      });
    const auto for_own_vectors = [&](auto&& body) {
      site::unroll<Count>([&](auto v) {
        if (first + v >= own) body(v);
      });
    };
    if (a.sums.norm)
      for_own_vectors([&](auto v) {
        const site::ColourVector<V>& z = r[v];
        site::unroll<3>([&](auto c) { norm[v] = fma(z[c].im, z[c].im, fma(z[c].re, z[c].re, norm[v])); });
      });
    if (a.sums.dot)
      for_own_vectors([&](auto v) {
        const site::SiteReader<F, V> y(a.y + at(v), lanes);
        site::unroll<3>([&](auto c) {
          const site::Complex<V> value = y.component(c);
          dot[v] = fma(value.im, r[v][c].im, fma(value.re, r[v][c].re, dot[v]));
        });
      });
    site::unroll<Count>([&](auto v) {
      if constexpr (passing)
        site::unroll<3>([&](auto c) {
          __stcs(a.out + at(v) + 2 * c * lanes, r[v][c].re.v);
          __stcs(a.out + at(v) + (2 * c + 1) * lanes, r[v][c].im.v);
        });
      else site::write_site<F>(a.out + at(v), lanes, r[v]);
    });
  }
  if (!a.sums.norm && !a.sums.dot) return;
  __shared__ __align__(16) Real<F> exchange[3 * room<F, Count>.threads];
  const auto row_threads = static_cast<int>(blockDim.x * blockDim.z);  // of a group, in whole warps
  const auto place = static_cast<int>((threadIdx.y * blockDim.z + threadIdx.z) * blockDim.x + threadIdx.x);
  site::unroll<Count>([&](auto v) {
    if (v > 0) __syncthreads();  // nobody reads the summands of the vector before any more
    Real<F> x[3];
    const int count = a.sums.wanted(norm[v].v, dot[v].v, Real<F>{0}, x);
    add_to_tables(x, count, place, exchange, [&](int row, int sum) {
      const int first_of_row = min(row * arch::warp_threads / row_threads * Count, a.vectors - Count);
      return tables + sum * a.vectors + first_of_row + v;
    });
  });
}

template <class F>
__global__ void __launch_bounds__(128)
    colour_pack_kernel(const staggered::PackArguments<F> a, int lanes, bool forward, std::uint32_t threads, const std::int32_t* stop) {
  using T = Real<F>;
  constexpr int words = staggered::vector_words<F>;
  runtime::wait_for_predecessors();
  if (stop != nullptr && *stop != 0) return;
  const int width = a.stride == 0 ? lanes : lanes / 2;
  for (std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x; id < threads; id += gridDim.x * blockDim.x) {
    const std::uint32_t i = id / width;
    const int face_lane = static_cast<int>(id % width);
    // The inverse of ColourHops::read: the bit of the edge goes back in. A reader that looks forward needs our lower half.
    const int lane =
        a.stride == 0 ? face_lane : (face_lane & (a.stride - 1)) | ((face_lane & ~(a.stride - 1)) << 1) | (forward ? 0 : a.stride);
    for (int v = 0; v < a.vectors; ++v) {
      const std::size_t at = static_cast<std::size_t>(a.sites[i]) * a.vectors + v;
      const T* in = reinterpret_cast<const T*>(a.in + at * (words * lanes)) + lane;
      T* out = a.out + (std::size_t{i} * a.vectors + v) * words * width + face_lane;
      T word[words];
      site::unroll<words>([&](auto w) { word[w] = __ldg(in + w * lanes); });
      site::unroll<words>([&](auto w) { out[w * width] = word[w]; });
    }
  }
}

/// Vectors that a thread takes of n, of the numbers that are compiled: the wanted one where it can be had; else `usual`, or the number that
/// computes fewest twice, the largest where several do. Blocks have one row of 32 threads at least for each group.
template <class F, int... Counts>
int vectors_a_thread(int n, int wanted, int usual, std::integer_sequence<int, Counts...>) {
  int best = 0;
  const auto consider = [&](auto constant) {
    constexpr int count = constant;
    const auto twice = [n](int c) { return (n + c - 1) / c * c; };
    if (count > n || twice(count) / count * 32 > room<F, count>.threads || (best > 0 && best == wanted)) return;
    const bool fewer = best == 0 || twice(count) < twice(best) || (twice(count) == twice(best) && best != usual);
    if (count == wanted || fewer) best = count;
  };
  (consider(site::Index<Counts>{}), ...);
  return best;
}

template <class F, int W, int LongReals, unsigned Faced, int... Counts>
void launch_dslash_of(const staggered::DslashArguments<F>& a, std::int64_t sites, const staggered::KernelChoice& choice,
                      const VectorStatus* status, Obedience obedience, runtime::CudaStream stream,
                      std::integer_sequence<int, Counts...> counts) {
  // Eight vectors in single precision fill the registers: links that are put together from fewer numbers, and sums, then cost more than
  // reading links half as often gains (CG on one H200: 175 instead of 130 us), while without sums eight are the faster ones.
  const bool adds = a.sums.count(a.vectors) > 0;
  constexpr bool is_double = sizeof(Real<F>) == 8, plain_links = LongReals == 0 || LongReals == 18;
  const int usual = is_double ? (a.vectors >= 8 ? 8 : 2) : !is_half<F> && plain_links && !adds ? 8 : 4;
  const int asked = choice.launch.vectors_a_thread, wanted_vectors = adds && !is_double && !is_half<F> ? std::min(asked, usual) : asked;
  const int lanes = choice.lanes, chosen = vectors_a_thread<F>(a.vectors, wanted_vectors, usual, counts);
  const int groups = (a.vectors + chosen - 1) / chosen;
  SumTable* tables = a.sums.count(a.vectors) > 0 ? sum_tables() : nullptr;
  const auto consider = [&](auto constant) {
    constexpr int count = constant;
    if (chosen != count) return;
    constexpr int most = room<F, count>.threads;
    const int wanted = choice.launch.block_threads > 0 ? std::min(choice.launch.block_threads, most) : most;
    // Whole warps for each group; a block has at most 64 sites.
    const int row = std::max(32, std::min(wanted / groups, 64 * lanes) / 32 * 32), sites_a_block = row / lanes;
    const auto blocks = static_cast<unsigned>((sites + sites_a_block - 1) / sites_a_block);
    const dim3 shape(static_cast<unsigned>(lanes), static_cast<unsigned>(groups), static_cast<unsigned>(sites_a_block));
    runtime::launch(dslash_kernel<F, W, LongReals, count, Faced>, sites * lanes >= runtime::least_overlapping, blocks, shape, stream, a,
                    static_cast<std::uint32_t>(sites), status, obedience, tables);
  };
  (consider(site::Index<Counts>{}), ...);
}

template <class F, int LongReals>
void launch_dslash_with(const staggered::KernelChoice& choice, const staggered::DslashArguments<F>& a, std::int64_t count,
                        const VectorStatus* status, Obedience obedience, runtime::CudaStream stream) {
  unsigned faced = 0;
  for (int d = 0; d < 8; ++d)
    if (a.faces[d] != nullptr) faced |= 1u << d;
  const auto start = [&](auto lanes, auto directions, auto counts) {
    launch_dslash_of<F, lanes, LongReals, directions>(a, count, choice, status, obedience, stream, counts);
  };
  constexpr site::Index<full_lanes<F>> full{};
  using Any = std::integral_constant<unsigned, all_directions>;
  // What is rare has fewer kernels.
  if (choice.lanes != full) start(site::Index<0>{}, Any{}, std::integer_sequence<int, 1, 4>{});
  else if (faced == no_directions)
    start(full, std::integral_constant<unsigned, no_directions>{}, std::integer_sequence<int, 1, 2, 3, 4, 8>{});
  else if ((faced & ~both_times) == 0)
    start(full, std::integral_constant<unsigned, both_times>{}, std::integer_sequence<int, 1, 2, 4, 8>{});
  else start(full, Any{}, std::integer_sequence<int, 1, 4>{});
  runtime::check_launch("staggered dslash");
}

}  // namespace quarkstar::cuda

/// In a .cu: the launches of one format and one kind of long link.
#define QUARKSTAR_DSLASH_LAUNCH(F, LongReals)                                                                                           \
  template void quarkstar::cuda::launch_dslash_with<F, LongReals>(const staggered::KernelChoice&, const staggered::DslashArguments<F>&, \
                                                                  std::int64_t, const VectorStatus*, Obedience, runtime::CudaStream);
