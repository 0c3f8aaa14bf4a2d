#pragma once
// CUDA driver of the staggered Dslash: one thread a lane of an outer site and block of vectors, around the same site body as the CPU. A
// thread holds a link in registers and multiplies it with every vector of its block; blocks of one site are neighbours in the grid,
// so that the link comes from the caches for all but the first.
#include "codelets/arch/cuda.cuh"
#include "codelets/arch/cuda_sum.cuh"
#include "codelets/arch/cuda_sums.hpp"
#include "codelets/lattice/neighbour_entry.hpp"
#include "codelets/staggered/dslash_cuda.hpp"
#include "codelets/staggered/staggered_site.hpp"

namespace quarkstar::cuda {

/// The neighbours of one lane of an outer site, and the links to them. W: lanes of the block; 0: known at run time only.
/// Straight: no faces, so that a hop takes no branch and the compiler can load the next direction's data while it computes this one.
template <class F, int W, int LongReals, bool Straight>
struct ColourHops {
  using T = Real<F>;
  using V = Lane<T>;
  using Vector = site::ColourVector<V>;
  static constexpr bool has_far = LongReals > 0, in_units = is_half<F>;
  static constexpr int fat_words = NumberFormat<F>::link_words(18), far_words = NumberFormat<F>::link_words(LongReals);
  const staggered::DslashArguments<F>& a;
  std::size_t outer, position;
  int lanes_at_run_time, lane, first;

  __device__ __forceinline__ int lanes() const { return W > 0 ? W : lanes_at_run_time; }

  template <class Body>
  __device__ __forceinline__ void for_directions(Body&& body) const {
    site::unroll<8>(body);
  }
  __device__ __forceinline__ void fat_link(site::Link<V>& u, int d) const {
    site::load_link<F, 18, StreamedLoads>(u, a.fat + (outer * 8 + d) * (fat_words * lanes()) + lane, lanes());
  }
  __device__ __forceinline__ void far_link(site::Link<V>& u, int d) const {
    site::load_long_link<F, LongReals, StreamedLoads>(u, V{a.long_factor}, a.far_links + (outer * 8 + d) * (far_words * lanes()) + lane, lanes());
  }
  __device__ __forceinline__ V near_factor() const { return {a.near_factor}; }
  __device__ __forceinline__ void near(Vector& h, int d, int v) const { read(h, __ldg(a.near + outer * 8 + d), a.near_at, d, v); }
  __device__ __forceinline__ void far(Vector& h, int d, int v) const { read(h, __ldg(a.far + outer * 8 + d), a.far_at, d, v); }

 private:
  __device__ __forceinline__ void read(Vector& h, std::uint32_t entry, const std::uint32_t* faces_at, int d, int v) const {
    const int stride = a.stride[d / 2];
    const int from = (entry & neighbour_entry::exchange) != 0 ? lane ^ stride : lane;
    const std::size_t at = static_cast<std::size_t>(entry >> neighbour_entry::shift) * a.vectors + (first + v);
    const site::SiteReader<F, V, CachedLoads> stored(a.in + at * (staggered::vector_words<F> * lanes()) + from, lanes());
    if constexpr (!Straight)
      if ((entry & neighbour_entry::face) != 0 && (stride == 0 || ((lane & stride) != 0) == (d % 2 == 0))) {
        const int width = stride == 0 ? lanes() : lanes() / 2;
        const int face_lane = stride == 0 ? lane : (lane & (stride - 1)) | ((lane >> 1) & ~(stride - 1));
        const T* p = a.faces[d] + (static_cast<std::size_t>(faces_at[position * 8 + d]) * a.vectors + (first + v)) * 6 * width + face_lane;
        site::unroll<3>([&](auto c) { h[c] = {{p[2 * c * width]}, {p[(2 * c + 1) * width]}}; });
        return;
      }
    site::unroll<3>([&](auto c) { h[c] = stored.component(c); });
  }
};

/// Threads of a block that registers leave room for.
template <class F>
inline constexpr int most_threads = sizeof(Real<F>) == 4 ? 512 : 256;

/// Count vectors a thread; threadIdx.y: which block of them. The last may overlap the one before it (its results are the same), but
/// adds only what is its own to the sums.
template <class F, int W, int LongReals, int Count, bool Straight>
__global__ void __launch_bounds__(most_threads<F>)
    dslash_kernel(const __grid_constant__ staggered::DslashArguments<F> a, std::uint32_t threads, int lanes_at_run_time,
                  const staggered::VectorStatus* status, staggered::Obedience obedience, SumTable* tables) {
  using V = Lane<Real<F>>;
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t lanes = W > 0 ? W : lanes_at_run_time;
  const std::uint32_t i = id / lanes;
  const int lane = static_cast<int>(id % lanes);
  const int own = static_cast<int>(threadIdx.y) * Count, first = min(own, a.vectors - Count);
  bool wanted = id < threads;
  if (const std::int32_t* left_out = obedience.left_out(status); wanted && left_out != nullptr) {
    bool any = false;
    for (int v = 0; v < Count; ++v) any = any || left_out[first + v] == 0;
    wanted = any;
  }
  V norm[Count], dot[Count];
  site::unroll<Count>([&](auto v) { norm[v] = dot[v] = V{0}; });
  if (wanted) {
    const std::size_t outer = a.sites != nullptr ? __ldg(a.sites + i) : i;
    ColourHops<F, W, LongReals, Straight> hops{a, outer, i, lanes_at_run_time, lane, first};
    site::ColourVector<V> r[Count];
    staggered::dslash_term(r, hops);
    site::unroll<Count>([&](auto v) {
      const std::size_t at = (outer * a.vectors + (first + v)) * (staggered::vector_words<F> * lanes) + lane;
      const V scale{a.scale[first + v]};
      site::ColourVector<V> z;
      site::unroll<3>([&](auto c) { z[c] = {scale * r[v][c].re, scale * r[v][c].im}; });
      if (a.x != nullptr) {
        const V diagonal{a.diagonal[first + v]};
        const site::SiteReader<F, V, StreamedLoads> x(a.x + at, static_cast<int>(lanes));
        site::unroll<3>([&](auto c) {
          const site::Complex<V> value = x.component(c);
          z[c] = {fma(diagonal, value.re, z[c].re), fma(diagonal, value.im, z[c].im)};
        });
      }
      site::write_site<F>(a.out + at, static_cast<int>(lanes), z);
      if (first + v < own) return;
      if (a.sums.norm) site::unroll<3>([&](auto c) { norm[v] = fma(z[c].im, z[c].im, fma(z[c].re, z[c].re, norm[v])); });
      if (a.sums.dot) {
        const site::SiteReader<F, V> y(a.y + at, static_cast<int>(lanes));
        site::unroll<3>([&](auto c) {
          const site::Complex<V> value = y.component(c);
          dot[v] = fma(value.im, z[c].im, fma(value.re, z[c].re, dot[v]));
        });
      }
    });
  }
  if (a.sums.norm) {
    site::unroll<Count>([&](auto v) { add_to_table(tables[first + v], static_cast<double>(norm[v].v)); });
    tables += a.vectors;
  }
  if (a.sums.dot) site::unroll<Count>([&](auto v) { add_to_table(tables[first + v], static_cast<double>(dot[v].v)); });
}

template <class F>
__global__ void __launch_bounds__(128)
    colour_pack_kernel(const staggered::PackArguments<F> a, int lanes, bool forward, std::uint32_t threads, const std::int32_t* stop) {
  using V = Lane<Real<F>>;
  if (stop != nullptr && *stop != 0) return;
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= threads) return;
  const int width = a.stride == 0 ? lanes : lanes / 2;
  const std::uint32_t i = id / width;
  const int face_lane = static_cast<int>(id % width);
  // The inverse of ColourHops::read: the bit of the edge goes back in. A reader that looks forward needs our lower half.
  const int lane = a.stride == 0 ? face_lane
                                 : (face_lane & (a.stride - 1)) | ((face_lane & ~(a.stride - 1)) << 1) | (forward ? 0 : a.stride);
  for (int v = 0; v < a.vectors; ++v) {
    const std::size_t at = static_cast<std::size_t>(a.sites[i]) * a.vectors + v;
    const site::SiteReader<F, V, CachedLoads> stored(a.in + at * (staggered::vector_words<F> * lanes) + lane, lanes);
    Real<F>* out = a.out + (std::size_t{i} * a.vectors + v) * 6 * width + face_lane;
    site::unroll<3>([&](auto c) {
      const site::Complex<V> z = stored.component(c);
      out[2 * c * width] = z.re.v;
      out[(2 * c + 1) * width] = z.im.v;
    });
  }
}

/// Vectors that a thread takes of n: of those compiled, the number that computes fewest twice, the largest where several do. Blocks have
/// one row of 32 threads at least for each group of vectors; more than four groups of few vectors only where nothing else is compiled.
template <class F, int... Counts>
int vectors_a_thread(int n, std::integer_sequence<int, Counts...>) {
  int best = 0, least = 0;
  const auto consider = [&](int count, bool many_groups) {
    const int groups = (n + count - 1) / count;
    if (count > n || groups * 32 > most_threads<F> || (groups > 4 && count < 8 && !many_groups)) return;
    if (best == 0 || groups * count < least || (groups * count == least && count > best)) {
      best = count;
      least = groups * count;
    }
  };
  (consider(Counts, false), ...);
  if (best == 0) (consider(Counts, true), ...);
  return best;
}

template <class F, int W, int LongReals, bool Straight, int... Counts>
void launch_dslash_of(const staggered::DslashArguments<F>& a, std::int64_t count, int lanes, const staggered::VectorStatus* status,
                      staggered::Obedience obedience, runtime::CudaStream stream, std::integer_sequence<int, Counts...> counts) {
  const int chosen = vectors_a_thread<F>(a.vectors, counts);
  const auto groups = static_cast<unsigned>((a.vectors + chosen - 1) / chosen);
  const unsigned width = groups * 128 <= most_threads<F> ? 128 : groups * 64 <= most_threads<F> ? 64 : 32;
  const auto threads = static_cast<std::uint32_t>(count * lanes);
  SumTable* tables = a.sums.count(a.vectors) > 0 ? sum_tables() : nullptr;
  const auto consider = [&](auto vectors) {
    if (chosen == vectors)
      dslash_kernel<F, W, LongReals, vectors, Straight>
          <<<(threads + width - 1) / width, dim3(width, groups), 0, stream>>>(a, threads, lanes, status, obedience, tables);
  };
  (consider(site::Index<Counts>{}), ...);
}

/// Lanes that kernels know at compile time: those of 64 bytes.
template <class F>
inline constexpr int full_lanes = sizeof(Real<F>) == 4 ? 16 : 8;

template <class F, int LongReals>
void launch_dslash_with(int lanes, const staggered::DslashArguments<F>& a, std::int64_t count, const staggered::VectorStatus* status,
                        staggered::Obedience obedience, runtime::CudaStream stream) {
  bool straight = true;
  for (int d = 0; d < 8; ++d) straight = straight && a.faces[d] == nullptr;
  if (lanes != full_lanes<F>)
    launch_dslash_of<F, 0, LongReals, false>(a, count, lanes, status, obedience, stream, std::integer_sequence<int, 1, 4>{});
  else if (straight)
    launch_dslash_of<F, full_lanes<F>, LongReals, true>(a, count, lanes, status, obedience, stream,
                                                        std::integer_sequence<int, 1, 2, 3, 4, 8>{});
  else
    launch_dslash_of<F, full_lanes<F>, LongReals, false>(a, count, lanes, status, obedience, stream, std::integer_sequence<int, 1, 2, 4, 8>{});
  runtime::check_launch("staggered dslash");
}

}  // namespace quarkstar::cuda

/// In a .cu: the launches of one format and one kind of long link.
#define QUARKSTAR_DSLASH_LAUNCH(F, LongReals)                                                                                        \
  template void quarkstar::cuda::launch_dslash_with<F, LongReals>(int, const staggered::DslashArguments<F>&, std::int64_t,           \
                                                                  const staggered::VectorStatus*, staggered::Obedience, runtime::CudaStream);
