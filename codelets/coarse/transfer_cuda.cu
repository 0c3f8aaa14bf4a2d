#include "codelets/arch/cuda_words.cuh"
#include "codelets/arch/lane.hpp"
#include "codelets/coarse/threads_cuda.cuh"
#include "codelets/coarse/transfer_cuda.hpp"

#include <cuda_runtime.h>

#include <algorithm>
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

/// The CPU's orthonormalise() of some groups of aggregates (threadIdx.z) and one chirality (blockIdx.y), with a thread per lane (.x) and
/// null vector of a field (.y). A vector is made orthogonal to one before it by its own thread, to all of them in their order, and each is
/// normalised when those before it are done with: so every number is computed from the same ones as there. What is left of a vector tells
/// its norm.
template <int Kind, class F>
__global__ void __launch_bounds__(full_lanes<F>* coarse::null_vectors_at_once(coarse::most_null_vectors))
    orthonormalise_range(const __grid_constant__ TransferArguments<F> a, std::int64_t groups) {
  using Some = Components<Kind, F>;
  constexpr int at_a_time = Kind == coarse::coarse_kind ? 1 : 3;
  const std::int64_t group = std::int64_t{blockIdx.x} * blockDim.z + threadIdx.z;
  const int lane = static_cast<int>(threadIdx.x);
  const std::uint32_t* sites = a.sites + group * a.aggregate_sites;
  const int begin = static_cast<int>(blockIdx.y) * (a.components / 2), end = begin + a.components / 2;
  const auto word = [&](int vector, std::uint32_t site, int c) { return coarse::null_word<Kind>(a, site, vector, c, 0, lane); };
  // body(first component) for all sites, `at_a_time` times Some::count components at a time.
  const auto over = [&](auto&& body) {
    for (int k = 0; k < a.aggregate_sites; ++k)
      for (int c = begin; c < end; c += at_a_time * Some::count) body(__ldg(sites + k), c);
  };
  const auto load = [&](Some(&z)[at_a_time], int vector, std::uint32_t site, int c) {
    site::unroll<at_a_time>([&](auto n) { z[n].load(word(vector, site, c + n * Some::count), a.lanes); });
  };
  const auto store = [&](Some(&z)[at_a_time], int vector, std::uint32_t site, int c) {
    site::unroll<at_a_time>([&](auto n) { z[n].store(word(vector, site, c + n * Some::count), a.lanes); });
  };
  const auto for_each = [&](auto&& body) {
    site::unroll<at_a_time>([&](auto n) { site::unroll<Some::count>([&](auto m) { body(n, m); }); });
  };
  double norm2 = 0;  // of the vector that this thread normalises next
  const auto add_norm = [&](const Some& y, int m) {
    const double re = y.re[m], im = y.im[m];
    norm2 += re * re + im * im;
  };
  const auto find_norm = [&](int j) {
    norm2 = 0;
    over([&](std::uint32_t site, int c) {
      Some y[at_a_time];
      load(y, j, site, c);
      for_each([&](auto n, auto m) { add_norm(y[n], m); });
    });
  };
  const auto normalise = [&](int j) {
    const double factor = 1 / sqrt(norm2);
    over([&](std::uint32_t site, int c) {
      Some y[at_a_time];
      load(y, j, site, c);
      for_each([&](auto n, auto m) {
        y[n].re[m] = static_cast<F>(y[n].re[m] * factor);
        y[n].im[m] = static_cast<F>(y[n].im[m] * factor);
      });
      store(y, j, site, c);
    });
  };
  const auto project = [&](int i, int j) {
    double re = 0, im = 0;
    over([&](std::uint32_t site, int c) {
      Some x[at_a_time], y[at_a_time];
      load(x, i, site, c);
      load(y, j, site, c);
      for_each([&](auto n, auto m) {
        const double x_re = x[n].re[m], x_im = x[n].im[m], y_re = y[n].re[m], y_im = y[n].im[m];
        re += x_re * y_re + x_im * y_im;
        im += x_re * y_im - x_im * y_re;
      });
    });
    const bool is_next = j == i + 1;  // its norm is wanted before more is taken from it
    if (is_next) norm2 = 0;
    over([&](std::uint32_t site, int c) {
      Some x[at_a_time], y[at_a_time];
      load(x, i, site, c);
      load(y, j, site, c);
      for_each([&](auto n, auto m) {
        const double x_re = x[n].re[m], x_im = x[n].im[m];
        y[n].re[m] = static_cast<F>(y[n].re[m] - (re * x_re - im * x_im));
        y[n].im[m] = static_cast<F>(y[n].im[m] - (re * x_im + im * x_re));
        if (is_next) add_norm(y[n], m);
      });
      store(y, j, site, c);
    });
  };
  const auto first = static_cast<int>(threadIdx.y);  // of this thread's vectors, one of each field
  for (int pass = 0; pass < 2; ++pass) {
    if (first == 0 && group < groups) find_norm(0);
    for (int i = 0; i < a.count; ++i) {
      if (first == a.in_field(i) && group < groups) normalise(i);
      __syncthreads();
      for (int j = first; j < a.count && group < groups; j += a.at_once)
        if (j > i) project(i, j);
      __syncthreads();
    }
  }
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
    const auto of_group = static_cast<unsigned>(a.lanes * a.at_once), at_a_time = std::max(1u, threads / of_group);
    const auto blocks = static_cast<unsigned>((groups + at_a_time - 1) / at_a_time);
    orthonormalise_range<Kind>
        <<<dim3(blocks, 2), dim3(static_cast<unsigned>(a.lanes), static_cast<unsigned>(a.at_once), at_a_time), 0, stream>>>(a, groups);
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
