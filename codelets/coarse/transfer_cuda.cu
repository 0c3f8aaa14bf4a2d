#include "codelets/arch/block_threads.hpp"
#include "codelets/arch/cuda_words.cuh"
#include "codelets/arch/lane.hpp"
#include "codelets/coarse/threads_cuda.cuh"
#include "codelets/coarse/transfer_cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"

#include <cuda_runtime.h>

#include <type_traits>
#include <utility>

namespace quarkstar::cuda {
namespace {

using coarse::TransferArguments, coarse::TransferStep;
using site::Lane;

constexpr unsigned threads = 128;

/// A lane of a group of aggregates, and a number below `most`, of a thread; neighbouring threads have neighbouring lanes.
struct Place {
  std::int64_t group;
  int lane, number;
  __device__ Place(std::uint64_t id, int lanes, int most)
      : group(static_cast<std::int64_t>(id / static_cast<std::uint64_t>(lanes) / static_cast<std::uint64_t>(most))),
        lane(static_cast<int>(id % static_cast<std::uint64_t>(lanes))),
        number(static_cast<int>(id / static_cast<std::uint64_t>(lanes) % static_cast<std::uint64_t>(most))) {}
};

/// Components c and c + 1 of fine vector v of n at a site, in one lane: one or two loads where they lie in a chunk.
template <int Kind, class F>
__device__ __forceinline__ void load_pair(const TransferArguments<F>& a, const F* field, std::uint32_t site, int v, int n, int c, int lane,
                                          site::Complex<Lane<F>> (&z)[2]) {
  const F* p = coarse::fine_word<Kind>(a, field, site, v, n, c, 0, lane);
  if constexpr (Kind == 4) {
    F words[4];
    load_chunk<4, CachedLoads>(words, p);
    z[0] = {{words[0]}, {words[1]}};
    z[1] = {{words[2]}, {words[3]}};
  } else if constexpr (Kind == 2) {
    F words[4];
    load_chunk<2, CachedLoads>(words, p);
    load_chunk<2, CachedLoads>(words + 2, p + 2 * a.lanes);
    z[0] = {{words[0]}, {words[1]}};
    z[1] = {{words[2]}, {words[3]}};
  } else {
    for (int i = 0; i < 2; ++i) z[i] = coarse::load_component<Kind, Lane<F>>(a, field, site, v, n, c + i, lane);
  }
}

/// Some components of a fine vector at a site, in one lane, that follow each other: moved 16 bytes at a time where they lie so.
template <int Kind, class F>
struct Components {
  static constexpr bool of_coarse = Kind == coarse::coarse_kind;
  static constexpr int count = of_coarse ? 4 : 2;
  F re[count], im[count];

  __device__ __forceinline__ void load(const F* p, int lanes) {
    if constexpr (of_coarse) {
      each_chunk([&](auto i) {
        load_chunk<chunk, CachedLoads>(re + i, p + i);
        load_chunk<chunk, CachedLoads>(im + i, p + coarse::lanes_of_components + i);
      });
    } else {
      F words[2 * count];
      each_chunk([&](auto i) { load_chunk<chunk, CachedLoads>(words + i, p + i * lanes); });
      site::unroll<count>([&](auto m) { re[m] = words[2 * m], im[m] = words[2 * m + 1]; });
    }
  }
  __device__ __forceinline__ void store(F* p, int lanes) const {
    if constexpr (of_coarse) {
      each_chunk([&](auto i) {
        store_chunk<chunk>(p + i, re + i);
        store_chunk<chunk>(p + coarse::lanes_of_components + i, im + i);
      });
    } else {
      F words[2 * count];
      site::unroll<count>([&](auto m) { words[2 * m] = re[m], words[2 * m + 1] = im[m]; });
      each_chunk([&](auto i) { store_chunk<chunk>(p + i * lanes, words + i); });
    }
  }

 private:
  static constexpr int chunk = of_coarse ? 16 / static_cast<int>(sizeof(F)) : Kind, words = of_coarse ? count : 2 * count;
  /// body(first word of a chunk).
  template <class Body>
  static __device__ __forceinline__ void each_chunk(Body&& body) {
    site::unroll<words / chunk>([&](auto i) { body(site::Index<i * chunk>{}); });
  }
};

/// Components that a thread of prolong_range has at a time: of a spinor half of them.
template <int Kind>
inline constexpr int components_at_a_time = Kind == coarse::coarse_kind ? 4 : 6;

/// prolong_component() for all components of Count vectors at one fine site, in one thread: null vectors are read once for them, and
/// components of coarse vectors for some null vectors at once.
template <int Kind, int Count, class F>
__global__ void __launch_bounds__(threads)
    prolong_range(const __grid_constant__ TransferArguments<F> a, const std::int32_t* idle, std::uint64_t work) {
  using V = Lane<F>;
  using Some = Components<Kind, F>;
  using OfCoarse = Components<coarse::coarse_kind, F>;
  constexpr int some = components_at_a_time<Kind>, parts = some / Some::count;
  if (idles(idle) || thread_number() >= work) return;
  const Place place(thread_number(), a.lanes, a.aggregate_sites);
  const VectorsOfThread<Count> vectors{static_cast<int>(blockIdx.y) * Count, a.vectors - 1, a.left_out};
  const std::uint32_t site = a.sites[place.group * a.aggregate_sites + place.number], parity = site & 1;
  if (a.fine[parity] == nullptr || vectors.none()) return;
  const std::uint32_t coarse_site = a.places[place.group * a.lanes + place.lane];
  for (int first = 0; first < a.components; first += some) {
    const int row = first < a.components / 2 ? 0 : a.count;
    site::Complex<V> sum[some][Count];
    site::unroll<some>([&](auto c) { site::unroll<Count>([&](auto t) { sum[c][t] = {V{0}, V{0}}; }); });
    for (int before = 0; before < a.count; before += a.at_once) {  // of a field, which has a multiple of what is taken at once
      const F* field = a.null_field(before, parity);
      for (int j = 0; j < a.at_once; j += OfCoarse::count) {
        OfCoarse of[Count];
        site::unroll<Count>([&](auto t) { of[t].load(coarse::coarse_at(a, coarse_site, row + before + j, vectors.number(t)), 1); });
        site::unroll<OfCoarse::count>([&](auto k) {
          site::unroll<parts>([&](auto part) {
            Some b;
            b.load(coarse::fine_word<Kind>(a, field, site, j + k, a.at_once, first + part * Some::count, 0, place.lane), a.lanes);
            site::unroll<Some::count>([&](auto i) {
              site::unroll<Count>([&](auto t) {
                site::Complex<V>& z = sum[part * Some::count + i][t];
                z = site::multiply_add(site::Complex<V>{{of[t].re[k]}, {of[t].im[k]}}, site::Complex<V>{{b.re[i]}, {b.im[i]}}, z);
              });
            });
          });
        });
      }
    }
    site::unroll<Count>([&](auto t) {
      if (!vectors.wanted(t)) return;
      site::unroll<parts>([&](auto part) {
        Some result;
        site::unroll<Some::count>([&](auto i) {
          result.re[i] = sum[part * Some::count + i][t].re.v;
          result.im[i] = sum[part * Some::count + i][t].im.v;
        });
        result.store(
            coarse::fine_word<Kind>(a, a.fine[parity], site, vectors.first + t, a.vectors, first + part * Some::count, 0, place.lane),
            a.lanes);
      });
    });
  }
}

/// Components of coarse vectors that a thread of restrict_range has: N is a multiple of them, so they are of one chirality.
constexpr int rows_at_a_time = 4;

/// restrict_site() over an aggregate, for some components of Count coarse vectors in one thread: what is read serves all of their pairs.
template <int Kind, int Count, class F>
__global__ void __launch_bounds__(threads)
    restrict_range(const __grid_constant__ TransferArguments<F> a, const std::int32_t* idle, std::uint64_t work) {
  using V = Lane<F>;
  if (idles(idle) || thread_number() >= work) return;
  const Place place(thread_number(), a.lanes, 2 * a.count / rows_at_a_time);
  const VectorsOfThread<Count> vectors{static_cast<int>(blockIdx.y) * Count, a.vectors - 1, a.left_out};
  const std::uint32_t coarse_site = a.places[place.group * a.lanes + place.lane];
  if (vectors.none()) return;
  const int row = place.number * rows_at_a_time, chirality = row < a.count ? 0 : 1, j = row - chirality * a.count;
  const int half = a.components / 2, in_field = a.in_field(j);  // of rows that are in one field
  const F *const even = a.null_field(j, 0), *const odd = a.null_field(j, 1);
  site::Complex<V> sum[rows_at_a_time][Count];
  site::unroll<rows_at_a_time>([&](auto r) { site::unroll<Count>([&](auto t) { sum[r][t] = {V{0}, V{0}}; }); });
  const int sites = a.is_zero(j, vectors.first + Count - 1) ? 0 : a.aggregate_sites;
  for (int k = 0; k < sites; ++k) {
    const std::uint32_t site = a.sites[place.group * a.aggregate_sites + k], parity = site & 1;
    if (a.fine[parity] == nullptr || !a.layer.has(k)) continue;
    for (int c = chirality * half; c < (chirality + 1) * half; c += 2) {
      site::Complex<V> b[rows_at_a_time][2], x[Count][2];
      site::unroll<rows_at_a_time>(
          [&](auto r) { load_pair<Kind>(a, parity == 0 ? even : odd, site, in_field + r, a.at_once, c, place.lane, b[r]); });
      site::unroll<Count>([&](auto t) { load_pair<Kind>(a, a.fine[parity], site, vectors.number(t), a.vectors, c, place.lane, x[t]); });
      site::unroll<2>([&](auto i) {
        site::unroll<rows_at_a_time>(
            [&](auto r) { site::unroll<Count>([&](auto t) { sum[r][t] = site::conjugate_multiply_add(b[r][i], x[t][i], sum[r][t]); }); });
      });
    }
  }
  site::unroll<Count>([&](auto t) {
    if (!vectors.wanted(t)) return;
    site::unroll<rows_at_a_time>([&](auto r) {
      F* word = coarse::coarse_at(a, coarse_site, row + r, vectors.first + t);
      const bool zero = a.is_zero(j + r, vectors.first + t);
      word[0] = zero ? F{0} : sum[r][t].re.v;
      word[coarse::lanes_of_components] = zero ? F{0} : sum[r][t].im.v;
    });
  });
}

/// The CPU's orthonormalise() of one aggregate, a lane of a group, and one chirality by a block of threads: four vectors at a time, a
/// *panel*, stay in shared memory while those before them are taken out of them, each by its own products and in their order, so that every
/// number is computed from the same ones as there. A sum's terms come from many threads and are added by one, in the order of sites and
/// components, while the next ones come. Where a panel is too large for shared memory it stays where it is.
template <int Kind, class F, bool InShared>
struct Orthonormalising {
  using Some = Components<Kind, F>;
  static constexpr int panel = 4;  ///< N is a multiple of it
  static constexpr int most_sums = 2 * panel, adding = arch::warp_threads, computing = 2 * arch::warp_threads;
  static constexpr int terms = computing * Some::count, stride = terms + 1;  ///< of a sum; sums are in other banks
  static constexpr std::size_t terms_bytes = 2 * most_sums * stride * sizeof(double);

  const TransferArguments<F>& a;
  const std::uint32_t* sites;
  int lane, chirality;
  double* buffers;  ///< [turn][sum][term], and behind them the sums
  F* kept;          ///< [vector of the panel][re, im][number]

  static constexpr std::size_t panel_bytes(int numbers) { return static_cast<std::size_t>(panel * 2 * numbers) * sizeof(F); }

  __device__ __forceinline__ int units() const { return a.aggregate_sites * (a.components / 2) / Some::count; }
  __device__ __forceinline__ F* word(int vector, int unit) const {
    const int of_site = a.components / 2 / Some::count;
    return coarse::null_word<Kind>(a, __ldg(sites + unit / of_site), vector, chirality * (a.components / 2) + unit % of_site * Some::count,
                                   0, lane);
  }
  /// Vector v of the panel that begins with `first`.
  __device__ __forceinline__ Some read(int first, int v, int unit) const {
    Some z;
    if constexpr (InShared) {
      const F* from = kept + (v * 2 * units() + unit) * Some::count;
      site::unroll<Some::count>([&](auto m) { z.re[m] = from[m], z.im[m] = from[units() * Some::count + m]; });
    } else {
      z.load(word(first + v, unit), a.lanes);
    }
    return z;
  }
  __device__ __forceinline__ void write(int first, int v, int unit, const Some& z) const {
    if constexpr (InShared) {
      F* to = kept + (v * 2 * units() + unit) * Some::count;
      site::unroll<Some::count>([&](auto m) { to[m] = z.re[m], to[units() * Some::count + m] = z.im[m]; });
    } else {
      z.store(word(first + v, unit), a.lanes);
    }
  }
  template <class Body>
  __device__ __forceinline__ void over_units(const Body& body) const {
    for (int unit = static_cast<int>(threadIdx.x); unit < units(); unit += static_cast<int>(blockDim.x)) body(unit);
  }
  __device__ __forceinline__ double& sum(int number) const { return buffers[2 * most_sums * stride + number]; }

  /// Sums [begin, end) of what term(unit, to) writes to to[sum * stride + m] for each of a unit's numbers m.
  template <class Term>
  __device__ __forceinline__ void add_up(int begin, int end, const Term& term) const {
    const int thread = static_cast<int>(threadIdx.x), mine = begin + thread, all = units(), turns = (all + computing - 1) / computing;
    double total = 0;
    for (int turn = 0; turn <= turns; ++turn) {
      const auto of_turn = [&](int t) { return buffers + t % 2 * (most_sums * stride); };
      if (thread >= adding) {
        const int unit = turn * computing + thread - adding;
        if (unit < all) term(unit, of_turn(turn) + (thread - adding) * Some::count);
      } else if (turn > 0 && mine < end) {
        const double* from = of_turn(turn - 1) + mine * stride;
        const int count = min(computing, all - (turn - 1) * computing) * Some::count;
#pragma unroll 32
        for (int i = 0; i < count; ++i) total = total + from[i];
      }
      __syncthreads();
    }
    if (thread < adding && mine < end) sum(mine) = total;
    __syncthreads();
  }

  /// Takes x(unit) out of the panel's vectors from v on.
  template <class X>
  __device__ __forceinline__ void project(int first, int v_begin, const X& x) const {
    add_up(2 * v_begin, most_sums, [&](int unit, double* to) {
      const Some of_x = x(unit);
      site::unroll<panel>([&](auto v) {
        if (v < v_begin) return;
        const Some y = read(first, v, unit);
        site::unroll<Some::count>([&](auto m) {
          const double x_re = of_x.re[m], x_im = of_x.im[m], y_re = y.re[m], y_im = y.im[m];
          to[2 * v * stride + m] = x_re * y_re + x_im * y_im;
          to[(2 * v + 1) * stride + m] = x_re * y_im - x_im * y_re;
        });
      });
    });
    over_units([&](int unit) {
      const Some of_x = x(unit);
      site::unroll<panel>([&](auto v) {
        if (v < v_begin) return;
        Some y = read(first, v, unit);
        const double re = sum(2 * v), im = sum(2 * v + 1);
        site::unroll<Some::count>([&](auto m) {
          const double x_re = of_x.re[m], x_im = of_x.im[m];
          y.re[m] = static_cast<F>(y.re[m] - (re * x_re - im * x_im));
          y.im[m] = static_cast<F>(y.im[m] - (re * x_im + im * x_re));
        });
        write(first, v, unit, y);
      });
    });
    __syncthreads();
  }

  __device__ __forceinline__ void normalise(int first, int v) const {
    add_up(0, 1, [&](int unit, double* to) {
      const Some y = read(first, v, unit);
      site::unroll<Some::count>([&](auto m) {
        const double re = y.re[m], im = y.im[m];
        to[m] = re * re + im * im;
      });
    });
    const double factor = 1 / sqrt(sum(0));
    over_units([&](int unit) {
      Some y = read(first, v, unit);
      site::unroll<Some::count>([&](auto m) {
        y.re[m] = static_cast<F>(y.re[m] * factor);
        y.im[m] = static_cast<F>(y.im[m] * factor);
      });
      write(first, v, unit, y);
    });
    __syncthreads();
  }

  __device__ __forceinline__ void run() const {
    const auto global = [&](int vector, int unit) {
      Some z;
      z.load(word(vector, unit), a.lanes);
      return z;
    };
    for (int pass = 0; pass < 2; ++pass)
      for (int first = 0; first < a.count; first += panel) {
        if constexpr (InShared) {
          for (int v = 0; v < panel; ++v) over_units([&](int unit) { write(first, v, unit, global(first + v, unit)); });
          __syncthreads();
        }
        for (int i = 0; i < first; ++i) project(first, 0, [&](int unit) { return global(i, unit); });
        for (int v = 0; v < panel; ++v) {
          normalise(first, v);
          if (v + 1 < panel) project(first, v + 1, [&](int unit) { return read(first, v, unit); });
        }
        if constexpr (InShared) {
          for (int v = 0; v < panel; ++v) over_units([&](int unit) { read(first, v, unit).store(word(first + v, unit), a.lanes); });
          __syncthreads();
        }
      }
  }
};

template <int Kind, class F, bool InShared>
__global__ void __launch_bounds__(3 * arch::warp_threads) orthonormalise_range(const __grid_constant__ TransferArguments<F> a) {
  using Block = Orthonormalising<Kind, F, InShared>;
  extern __shared__ __align__(16) unsigned char dynamic[];
  const auto lanes = static_cast<unsigned>(a.lanes);
  Block{a,
        a.sites + std::size_t{blockIdx.x / lanes} * static_cast<std::size_t>(a.aggregate_sites),
        static_cast<int>(blockIdx.x % lanes),
        static_cast<int>(blockIdx.y),
        reinterpret_cast<double*>(dynamic),
        reinterpret_cast<F*>(dynamic + Block::terms_bytes + Block::most_sums * sizeof(double))}
      .run();
}

template <int Kind, class F>
void launch_orthonormalise(const TransferArguments<F>& a, std::int64_t groups, runtime::CudaStream stream) {
  constexpr std::size_t most_bytes = 160 * 1024;  // compute capability 8.0 has 163 KiB
  const auto start = [&](auto in_shared) {
    using Block = Orthonormalising<Kind, F, in_shared>;
    const std::size_t bytes = Block::terms_bytes + Block::most_sums * sizeof(double) +
                              (in_shared ? Block::panel_bytes(a.aggregate_sites * (a.components / 2)) : 0);
    if (in_shared && bytes > most_bytes) return false;
    runtime::launch_with_shared_memory(orthonormalise_range<Kind, F, in_shared>, bytes, false,
                                       dim3(static_cast<unsigned>(groups * a.lanes), 2),
                                       static_cast<unsigned>(Block::adding + Block::computing), stream, a);
    return true;
  };
  if (!start(std::true_type{})) start(std::false_type{});
}

/// One thread per fine site.
template <int Kind, class F>
__global__ void __launch_bounds__(threads) columns_range(const __grid_constant__ TransferArguments<F> a, std::uint64_t work) {
  if (thread_number() >= work) return;
  const Place place(thread_number(), a.lanes, a.aggregate_sites);
  coarse::copy_columns<Kind>(a, a.sites[place.group * a.aggregate_sites + place.number], place.lane);
}

/// body(Index<Count>): how many vectors a thread has of so many in all.
template <class Body>
void with_vectors_of_thread(int vectors, Body&& body) {
  if (vectors == 1) body(site::Index<1>{});
  else body(site::Index<coarse::vectors_at_a_time>{});
}

template <int Kind, class F>
void launch(const TransferArguments<F>& a, TransferStep step, std::int64_t groups, const std::int32_t* idle, runtime::CudaStream stream) {
  const auto grid = [&](int per_aggregate, int parts) {
    const std::uint64_t work = static_cast<std::uint64_t>(groups) * static_cast<std::uint64_t>(a.lanes * per_aggregate);
    return std::pair{dim3(static_cast<unsigned>((work + threads - 1) / threads), static_cast<unsigned>(parts)), work};
  };
  if (groups == 0) return;
  if (step == TransferStep::prolong) {
    with_vectors_of_thread(a.vectors, [&](auto count) {
      const auto [blocks, work] = grid(a.aggregate_sites, (a.vectors + count - 1) / count);
      prolong_range<Kind, count><<<blocks, threads, 0, stream>>>(a, idle, work);
    });
  } else if (step == TransferStep::restrict) {
    with_vectors_of_thread(a.vectors, [&](auto count) {
      const auto [blocks, work] = grid(2 * a.count / rows_at_a_time, (a.vectors + count - 1) / count);
      restrict_range<Kind, count><<<blocks, threads, 0, stream>>>(a, idle, work);
    });
  } else if (step == TransferStep::orthonormalise) {
    launch_orthonormalise<Kind>(a, groups, stream);
  } else {
    const auto [blocks, work] = grid(a.aggregate_sites, 1);
    columns_range<Kind><<<blocks, threads, 0, stream>>>(a, work);
  }
  runtime::check_launch("coarse.transfer");
}

}  // namespace

template <class F>
void launch_transfer(const TransferArguments<F>& a, TransferStep step, bool of_coarse, bool chunked, std::int64_t groups,
                     const std::int32_t* idle, runtime::CudaStream stream) {
  constexpr int chunk = site::chunk_words<F>(24);
  if (of_coarse) launch<coarse::coarse_kind>(a, step, groups, idle, stream);
  else if (chunked) launch<chunk>(a, step, groups, idle, stream);
  else launch<coarse::in_rows>(a, step, groups, idle, stream);
}

#define QUARKSTAR_TRANSFER_LAUNCH(F)                                                                                      \
  template void launch_transfer(const TransferArguments<F>&, TransferStep, bool, bool, std::int64_t, const std::int32_t*, \
                                runtime::CudaStream);
QUARKSTAR_TRANSFER_LAUNCH(float)
QUARKSTAR_TRANSFER_LAUNCH(double)

}  // namespace quarkstar::cuda
