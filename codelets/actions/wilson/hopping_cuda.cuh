#pragma once
// CUDA driver of the Wilson hopping term: one thread a lane of an outer site, around the same site body as the CPU.
#include "codelets/actions/wilson/hopping_cuda.hpp"
#include "codelets/actions/wilson/wilson_site.hpp"
#include "codelets/arch/cuda.cuh"
#include "codelets/arch/cuda_sum.cuh"
#include "codelets/lattice/neighbour_entry.hpp"
#include "runtime/gpu/cuda_launch.cuh"

#include <algorithm>

namespace quarkstar::cuda {

/// x with its sign bit flipped where `flip` is 0x80000000, as it is where `flip` is 0.
__device__ __forceinline__ float flip_sign(float x, unsigned flip) { return __uint_as_float(__float_as_uint(x) ^ flip); }
__device__ __forceinline__ double flip_sign(double x, unsigned flip) {
  return __hiloint2double(__double2hiint(x) ^ static_cast<int>(flip), __double2loint(x));
}

/// Edged: a bit for each direction that may have a face or a phase; the others have none, but for the times, which may have a sign (one in
/// every direction costs 5 % at 16^4, single precision, 12 reals: docs/results/2026-11-23-h200-wilson.md). No hop takes a branch, so that
/// the compiler can load one direction's data while it computes another (twice as fast).
template <class F, int W, int Reals, unsigned Edged>
struct CudaNeighbours {
  using T = Real<F>;
  using V = Lane<T>;
  const wilson::HoppingArguments<F>& a;
  const std::uint32_t* entries;
  const std::uint32_t* faces_at;
  const F* links;
  int lane;

  /// Lanes in the half that ends at the edge; all of them where the direction is not split.
  __device__ __forceinline__ bool on_edge(int mu, bool forward) const {
    const int stride = a.stride[mu];
    return stride == 0 || ((lane & stride) != 0) == forward;
  }

  template <int D, int Projector>
  __device__ __forceinline__ void half_spinor(site::HalfSpinor<V>& h) {
    constexpr int mu = D / 2;
    constexpr bool forward = D % 2 == 0;
    const std::uint32_t entry = __ldg(entries + D);
    const auto read_field = [&](V unit_of_link) {
      const int from = (entry & neighbour_entry::exchange) != 0 ? lane ^ a.stride[mu] : lane;
      const F* p = a.in + static_cast<std::size_t>(entry >> neighbour_entry::shift) * (spinor_words<F> * W) + from;
      wilson::read_projected<F, mu, Projector, CachedLoads>(h, p, W, unit_of_link);
    };
    if constexpr ((Edged >> D & 1) == 0) {
      constexpr bool has_sign = (both_times >> D & 1) != 0;
      const bool minus = has_sign && (entry & neighbour_entry::phase) != 0 && on_edge(mu, forward) && a.phase_re[D] < 0;
      read_field(V::broadcast(minus ? -site::link_unit : site::link_unit));
      if constexpr (has_sign && !is_half<F>) {
        const unsigned flip = minus ? 0x80000000u : 0u;
        site::unroll<6>([&](auto c) {
          h[c / 3][c % 3] = {{flip_sign(h[c / 3][c % 3].re.v, flip)}, {flip_sign(h[c / 3][c % 3].im.v, flip)}};
        });
      }
    } else {
      const bool edge = on_edge(mu, forward);
      read_field(V::broadcast(site::link_unit));
      replace_by_face(h, D, (entry & neighbour_entry::face) != 0 && edge);
      const bool turned = (entry & neighbour_entry::phase) != 0 && edge;
      const site::Complex<V> phase{{a.phase_re[D]}, {a.phase_im[D]}};
      site::unroll<6>([&](auto c) {
        site::Complex<V>& z = h[c / 3][c % 3];
        const site::Complex<V> product = site::multiply(phase, z);
        z = {{turned ? product.re.v : z.re.v}, {turned ? product.im.v : z.im.v}};
      });
    }
  }

  /// A lane that wants no face reads any one number.
  __device__ __forceinline__ void replace_by_face(site::HalfSpinor<V>& h, int direction, bool wanted) const {
    const int stride = a.stride[direction / 2];
    const int width = stride == 0 ? W : W / 2, step = wanted ? width : 0;
    const int face_lane = stride == 0 ? lane : (lane & (stride - 1)) | ((lane >> 1) & ~(stride - 1));
    const std::uint32_t place = wanted ? faces_at[direction] : 0;  // there is no table where nothing is cut
    const T* of_face = a.faces[direction] + static_cast<std::size_t>(place) * 12 * width + face_lane;
    const T* p = wanted ? of_face : reinterpret_cast<const T*>(a.in);
    site::unroll<6>([&](auto c) {
      const V re{p[2 * c * step]}, im{p[(2 * c + 1) * step]};
      site::Complex<V>& z = h[c / 3][c % 3];
      z = {{wanted ? re.v : z.re.v}, {wanted ? im.v : z.im.v}};
    });
  }

  template <int D>
  __device__ __forceinline__ void link(site::Link<V>& u) {
    // Links are read once: they should not push spinors, which are read eight times, out of the caches.
    site::load_link<F, Reals, StreamedLoads>(u, links + D * NumberFormat<F>::link_words(Reals) * W + lane, W);
  }
};

/// Blocks of the largest size on a multiprocessor: what the compiler makes fit into 65536 registers, so 255
/// registers a thread in double precision, 128 in single, 80 in half, whose loads are short and whose latency is hidden
/// by more threads (64 are 3 to 18 % slower; docs/results/2026-11-21-h200-staggered.md).
template <class F>
inline constexpr int resident_blocks = sizeof(Real<F>) == 8 ? 1
                                       : is_half<F>         ? 3
                                                            : 2;

template <class F, int W, int Reals, int Sign, unsigned Edged>
__global__ void __launch_bounds__(arch::most_block_threads, resident_blocks<F>)
    hopping_kernel(const __grid_constant__ wilson::HoppingArguments<F> a, std::uint32_t threads, const std::int32_t* stop,
                   SumTable* tables) {
  using V = Lane<Real<F>>;
  runtime::wait_for_predecessors();
  if (stop != nullptr && *stop != 0) return;
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  const bool active = id < threads;
  V norm{0}, dot_re{0}, dot_im{0};
  if (active) {
    const std::uint32_t i = id / W;
    const int lane = static_cast<int>(id % W);
    const std::size_t outer = a.sites != nullptr ? __ldg(a.sites + i) : i;
    CudaNeighbours<F, W, Reals, Edged> neighbours{a, a.neighbours + outer * 8, a.faces_at + std::size_t{i} * 8,
                                                  a.links + outer * (8 * NumberFormat<F>::link_words(Reals) * W), lane};
    site::Spinor<V> r;
    wilson::hopping_term<Sign>(r, neighbours);
    const std::size_t at = outer * (spinor_words<F> * W) + lane;
    const V scale{a.scale[0]}, diagonal{a.diagonal[0]};
    site::Complex<V> z[12];
    site::unroll<12>([&](auto c) { z[c] = {scale * r[c / 3][c % 3].re, scale * r[c / 3][c % 3].im}; });
    if (a.x != nullptr) {
      const site::SiteReader<F, V, StreamedLoads> x(a.x + at, W);
      site::unroll<12>([&](auto c) {
        const site::Complex<V> value = x.component(c);
        z[c] = {fma(diagonal, value.re, z[c].re), fma(diagonal, value.im, z[c].im)};
      });
    }
    site::write_site<F>(a.out + at, W, z);
    if (a.sums.norm) site::unroll<12>([&](auto c) { norm = fma(z[c].im, z[c].im, fma(z[c].re, z[c].re, norm)); });
    if (a.sums.dot) {
      const site::SiteReader<F, V> y(a.y + at, W);
      site::unroll<12>([&](auto c) {
        const site::Complex<V> value = y.component(c);
        dot_re = fma(value.im, z[c].im, fma(value.re, z[c].re, dot_re));
        dot_im = fnma(value.im, z[c].re, fma(value.re, z[c].im, dot_im));
      });
    }
  }
  if (a.sums.norm) add_to_table(*tables++, static_cast<double>(norm.v));
  if (a.sums.dot) {
    add_to_table(tables[0], static_cast<double>(dot_re.v));
    if (a.sums.imaginary) add_to_table(tables[1], static_cast<double>(dot_im.v));
  }
}

/// Threads of a pack kernel's block at most: no more than a block of the interior has, whose place it takes where one has ended.
inline constexpr int most_pack_threads = 256;

template <class F, int W, int D, int Sign>
__global__ void __launch_bounds__(most_pack_threads)
    pack_kernel(const wilson::PackArguments<F> a, std::uint32_t threads, const std::int32_t* stop) {
  using V = Lane<Real<F>>;
  constexpr bool forward = D % 2 == 0;
  runtime::wait_for_predecessors();
  if (stop != nullptr && *stop != 0) return;
  const int width = a.stride == 0 ? W : W / 2;
  for (std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x; id < threads; id += gridDim.x * blockDim.x) {
    const std::uint32_t i = id / width;
    const int face_lane = static_cast<int>(id % width);
    // The inverse of CudaNeighbours::replace_by_face: the bit of the edge goes back in. A reader that looks forward needs our lower half.
    const int lane =
        a.stride == 0 ? face_lane : (face_lane & (a.stride - 1)) | ((face_lane & ~(a.stride - 1)) << 1) | (forward ? 0 : a.stride);
    site::HalfSpinor<V> h;
    wilson::read_projected<F, D / 2, forward ? -Sign : Sign, CachedLoads>(
        h, a.in + static_cast<std::size_t>(a.sites[i]) * (spinor_words<F> * W) + lane, W);
    Real<F>* out = a.out + std::size_t{i} * 12 * width + face_lane;
    site::unroll<6>([&](auto c) {
      out[2 * c * width] = h[c / 3][c % 3].re.v;
      out[(2 * c + 1) * width] = h[c / 3][c % 3].im.v;
    });
  }
}

constexpr unsigned default_threads = 128;
inline unsigned blocks_for(std::int64_t threads, unsigned block_threads = default_threads) {
  return static_cast<unsigned>((threads + block_threads - 1) / block_threads);
}

template <class F>
using LaneCounts = std::conditional_t<sizeof(Real<F>) == 8, std::integer_sequence<int, 8, 4, 1>, std::integer_sequence<int, 16, 8, 1>>;

template <class F, int... Ws>
void launch_hopping_over(const wilson::KernelChoice& choice, const wilson::HoppingArguments<F>& arguments, std::int64_t count,
                         const VectorStatus* status, Obedience obedience, runtime::CudaStream stream, std::integer_sequence<int, Ws...>) {
  if (count == 0) return;
  const std::int32_t* stop = obedience.idle(status);
  const std::int64_t threads = count * choice.lanes;
  const int wanted =
      choice.launch.block_threads > 0 ? choice.launch.block_threads : wilson::usual_block_threads(sizeof(Real<F>) == 8, threads);
  const auto block_threads = static_cast<unsigned>(wanted);
  const unsigned blocks = blocks_for(threads, block_threads);
  SumTable* tables = arguments.sums.count(1) > 0 ? sum_tables() : nullptr;
  const bool overlap = threads >= runtime::least_overlapping;
  unsigned edged = 0;
  for (int d = 0; d < 8; ++d) {
    const bool in_time = (both_times >> d & 1) != 0;
    const bool has_phase = arguments.phase_im[d] != 0 || (arguments.phase_re[d] != 1 && !in_time);
    if (arguments.faces[d] != nullptr || has_phase) edged |= 1u << d;
  }
  bool started = false;
  const auto over_lanes = [&](auto w) {
    const auto consider = [&](auto reals, auto sign) {
      if (choice.lanes != w || choice.link_reals != reals || (choice.sign > 0) != (sign > 0)) return;
      started = true;
      const auto threads32 = static_cast<std::uint32_t>(threads);
      const auto start = [&](auto kernel) {
        runtime::launch(kernel, overlap, blocks, block_threads, stream, arguments, threads32, stop, tables);
      };
      if constexpr (w == 1) start(hopping_kernel<F, w, reals, sign, all_directions>);  // odd extents: rare, not worth three kernels
      else if (edged == 0) start(hopping_kernel<F, w, reals, sign, no_directions>);
      else if ((edged & ~both_times) == 0) start(hopping_kernel<F, w, reals, sign, both_times>);
      else start(hopping_kernel<F, w, reals, sign, all_directions>);
    };
    consider(site::Index<18>{}, site::Index<1>{});
    consider(site::Index<18>{}, site::Index<-1>{});
    consider(site::Index<12>{}, site::Index<1>{});
    consider(site::Index<12>{}, site::Index<-1>{});
    consider(site::Index<8>{}, site::Index<1>{});
    consider(site::Index<8>{}, site::Index<-1>{});
  };
  (over_lanes(site::Index<Ws>{}), ...);
  if (!started) runtime::fail_as_defect("wilson hopping: no kernel of that kind was compiled");
  runtime::check_launch("wilson hopping");
}

/// Blocks of a pack into another GPU's memory: the link between GPUs is the limit, so a few multiprocessors saturate it, and the others
/// stay with the interior.
inline constexpr unsigned remote_pack_blocks = 64;

template <class F, int... Ws>
void launch_pack_over(const wilson::PackChoice& choice, const wilson::PackArguments<F>& arguments, std::int64_t count,
                      const std::int32_t* stop, runtime::CudaStream stream, std::integer_sequence<int, Ws...>) {
  if (count == 0) return;
  const std::int64_t threads = count * (arguments.stride == 0 ? choice.lanes : choice.lanes / 2);
  const unsigned block_threads = choice.remote ? most_pack_threads : default_threads;
  unsigned blocks = blocks_for(threads, block_threads);
  if (choice.remote) blocks = std::min(blocks, remote_pack_blocks);
  bool started = false;
  const auto over_lanes = [&](auto w) {
    if (choice.lanes != w) return;
    site::unroll<8>([&](auto d) {
      if (choice.direction != d) return;
      started = true;
      runtime::launch_overlapping(choice.sign > 0 ? pack_kernel<F, w, d, 1> : pack_kernel<F, w, d, -1>, blocks, block_threads, stream,
                                  arguments, static_cast<std::uint32_t>(threads), stop);
    });
  };
  (over_lanes(site::Index<Ws>{}), ...);
  if (!started) runtime::fail_as_defect("wilson pack: no kernel of that kind was compiled");
  runtime::check_launch("wilson pack");
}

}  // namespace quarkstar::cuda

/// In a .cu: the launches of one format.
#define QUARKSTAR_HOPPING_LAUNCHES(F)                                                                                                     \
  template <>                                                                                                                             \
  void quarkstar::cuda::launch_hopping(const wilson::KernelChoice& choice, const wilson::HoppingArguments<F>& arguments,                  \
                                       std::int64_t count, const VectorStatus* status, Obedience obedience, runtime::CudaStream stream) { \
    launch_hopping_over(choice, arguments, count, status, obedience, stream, LaneCounts<F>{});                                            \
  }                                                                                                                                       \
  template <>                                                                                                                             \
  void quarkstar::cuda::launch_pack(const wilson::PackChoice& choice, const wilson::PackArguments<F>& arguments, std::int64_t count,      \
                                    const std::int32_t* stop, runtime::CudaStream stream) {                                               \
    launch_pack_over(choice, arguments, count, stop, stream, LaneCounts<F>{});                                                            \
  }
