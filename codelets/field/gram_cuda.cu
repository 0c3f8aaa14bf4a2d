#include "codelets/arch/cuda_sum.cuh"
#include "codelets/field/blas_cuda.cuh"
#include "codelets/field/gram_cuda.hpp"

namespace quarkstar::cuda {
namespace {

template <class F, int Components, bool Chunked>
using WordsOf = std::conditional_t<Chunked, WordsInChunks<F, Components>, blas::WordsInRows>;

/// One number of a vector at a site in shared memory, which a thread reads at once.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T re, im;
};

/// One thread per lane of an outer site (x) and part of a vector's components (y), which it has of all vectors of `in`, at most Most. The
/// sum over them runs in their order, as on a CPU.
template <class F, int Components, bool Chunked, int Most>
__global__ void __launch_bounds__(128) multiply_range(const blas::MultiplyArguments<F> a, const std::int32_t* stop, std::uint32_t sites) {
  using T = Real<F>;
  using V = Lane<T>;
  using Words = WordsOf<F, Components, Chunked>;
  constexpr int at_a_time = Words::at_a_time;
  if (*stop != 0) return;
  extern __shared__ __align__(16) unsigned char memory[];
  auto* const matrix = reinterpret_cast<Pair<T>*>(memory);  // column by column
  for (int i = static_cast<int>(threadIdx.x); i < a.in_vectors * a.vectors; i += static_cast<int>(blockDim.x)) {
    const runtime::ComplexScalar& m = a.matrix[i % a.in_vectors * a.vectors + i / a.in_vectors];
    matrix[i] = {static_cast<T>(m.re), static_cast<T>(m.im)};
  }
  __syncthreads();
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x, lanes = static_cast<std::uint32_t>(a.lanes);
  if (id >= sites) return;
  const std::uint32_t outer = id / lanes, lane = id % lanes;
  const int component = static_cast<int>(blockIdx.y) * at_a_time;
  site::Complex<V> in[Most][at_a_time];
  site::unroll<Most>([&](auto w) {
    if (w < a.in_vectors)
      Words::load(in[w], blas::vector_at<F, Components>(a.in, outer, a.in_vectors, w, a.lanes), component, lane, a.lanes);
  });
  for (int v = 0; v < a.vectors; ++v) {
    site::Complex<V> sum[at_a_time];
    site::unroll<at_a_time>([&](auto k) { sum[k] = {V{0}, V{0}}; });
    if (a.base != nullptr) Words::load(sum, blas::vector_at<F, Components>(a.base, outer, a.vectors, v, a.lanes), component, lane, a.lanes);
    const Pair<T>* const column = matrix + v * a.in_vectors;
    site::unroll<Most>([&](auto w) {
      if (w >= a.in_vectors) return;
      const Pair<T> m = column[w];
      site::unroll<at_a_time>([&](auto k) { sum[k] = site::multiply_add(site::Complex<V>{{m.re}, {m.im}}, in[w][k], sum[k]); });
    });
    Words::store(blas::vector_at<F, Components>(a.out, outer, a.vectors, v, a.lanes), component, lane, a.lanes, sum);
  }
}

/// In half precision a vector is written with its unit: one thread has all its components.
template <class F, int Components, bool Chunked>
__global__ void __launch_bounds__(128) multiply_sites(const blas::MultiplyArguments<F> a, const std::int32_t* stop, std::uint32_t sites) {
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x, lanes = static_cast<std::uint32_t>(a.lanes);
  if (*stop != 0 || id >= sites) return;
  blas::multiply_site<F, Components, WordsOf<F, Components, Chunked>, Lane<Real<F>>>(a, id / lanes, id % lanes);
}

/// The digits of one thread's summands of a sum, below the window of the largest so far: exact while they are fewer than 2^21.
/// Source: BinnedSum, whose digits do not depend on where the window began.
class DigitSum {
 public:
  /// Whether x is too large for the window, or no number.
  __device__ __forceinline__ bool is_beyond(double x) const { return magnitude(x) >= limit_; }
  /// Makes room for x where it is; x = 0 where it is no number.
  __device__ void widen(double& x, SumTable& table) {
    if (x == 0 || !is_beyond(x)) return;
    if (magnitude(x) >= 0x7ff00000) {
      poisoned_ = true;
      x = 0;
      return;
    }
    flush(table);
    window_ = runtime::window_of(x);
    scale_ = runtime::power_of_window(-window_);
    // The high word of 2^(32 window + 31), from which on another window is needed; none is above the highest.
    limit_ = window_ == runtime::BinnedSum::highest_window ? 0x7ff00000 : (1023 + 32 * window_ + 31) << 20;
  }
  /// Of an x that is not beyond the window.
  __device__ __forceinline__ void add(double x) {
    double rest = x * scale_;
    site::unroll<3>([&](auto i) {
      // 1.5 * 2^52 times the unit of the digit: the sum with it is rounded to that unit.
      constexpr double magic = i == 0 ? 6755399441055744.0 : i == 1 ? 1572864.0 : 0.0003662109375;
      const double digit = (rest + magic) - magic;
      digits_[i] += digit;
      rest -= digit;
    });
  }

  /// Adds what is there to the table, and begins anew.
  __device__ __forceinline__ void flush(SumTable& table) {
    if (window_ == runtime::BinnedSum::empty_window && !poisoned_) return;
    SumTable::Place& place = table.place[(blockIdx.x + threadIdx.x / arch::warp_threads) % SumTable::places];
    unsigned long long seen = poisoned_ ? SumTable::poison : 0;
    if (window_ != runtime::BinnedSum::empty_window) {
      seen |= SumTable::bit_of(window_);
      site::unroll<3>([&](auto i) {
        constexpr double units = i == 0 ? 1.0 : i == 1 ? 4294967296.0 : 18446744073709551616.0;
        const long long limb = __double2ll_rn(digits_[i] * units);
        if (limb != 0) atomicAdd(&place.limb_of(window_, i), static_cast<unsigned long long>(limb));
        digits_[i] = 0;
      });
    }
    atomicOr(&place.seen, seen);
  }

 private:
  /// The upper half of a double orders magnitudes by windows; its lowest bit stands for a lower half that is not zero.
  static __device__ __forceinline__ int magnitude(double x) { return (__double2hiint(x) & 0x7fffffff) | (__double2loint(x) != 0 ? 1 : 0); }

  double digits_[3] = {}, scale_ = 0;
  int window_ = runtime::BinnedSum::empty_window, limit_ = 1;  // nothing but zero is within
  bool poisoned_ = false;
};

/// Threads of a block at most, each with a pair of vectors: a gram matrix has the most, 17 warps.
constexpr int most_product_threads =
    (most_vectors * (most_vectors + 1) / 2 + arch::warp_threads - 1) / arch::warp_threads * arch::warp_threads;

/// The vectors of two fields at the sites of a tile, in shared memory as [site][component][vector].
template <class F, int Components, bool Chunked>
struct Tile {
  using T = Real<F>;
  using V = Lane<T>;
  using Words = WordsOf<F, Components, Chunked>;
  Pair<T>* numbers;
  int rows, sites_bits;  ///< rows: vectors of both fields; 2^sites_bits sites
  /// Odd, so that the sites of a warp, which writes one row of them, are in different banks.
  QUARKSTAR_HD int site_pairs() const { return Components * rows | 1; }

  /// Rows from `first` on <- the n vectors of a field at `count` sites from site `begin` on.
  __device__ __forceinline__ void load(const F* field, int n, int first, std::uint32_t begin, int count, int lanes) const {
    constexpr int at_a_time = Words::at_a_time, parts = Components / at_a_time, loads_ahead = 2;
    const int all = n * parts << sites_bits, threads = static_cast<int>(blockDim.x), lane_bits = __ffs(lanes) - 1;
    for (int e = static_cast<int>(threadIdx.x); e < all; e += loads_ahead * threads) {
      site::Complex<V> z[loads_ahead][at_a_time];
      V unit[loads_ahead];
      const auto place = [&](int i, auto&& body) {
        const int element = e + i * threads, s = element & ((1 << sites_bits) - 1), row = element >> sites_bits;
        if (element < all && s < count) body(s, row % parts, row / parts);
      };
      site::unroll<loads_ahead>([&](auto i) {
        place(i, [&](int s, int part, int v) {
          const std::uint32_t id = begin + s, lane = id & (lanes - 1);
          const F* const vector = blas::vector_at<F, Components>(field, id >> lane_bits, n, v, lanes);
          Words::load(z[i], vector, part * at_a_time, lane, lanes);
          if constexpr (is_half<F>) unit[i] = V::load(reinterpret_cast<const float*>(vector + lane));
        });
      });
      site::unroll<loads_ahead>([&](auto i) {
        place(i, [&](int s, int part, int v) {
          site::unroll<at_a_time>([&](auto k) {
            Pair<T>& to = numbers[s * site_pairs() + (part * at_a_time + k) * rows + first + v];
            if constexpr (is_half<F>) to = {(z[i][k].re * unit[i]).v, (z[i][k].im * unit[i]).v};
            else to = {z[i][k].re.v, z[i][k].im.v};
          });
        });
      });
    }
  }
  /// z = vector `row` at site s of the tile.
  __device__ __forceinline__ void read(site::Complex<V> (&z)[Components], int s, int row) const {
    const Pair<T>* const of_site = numbers + s * site_pairs() + row;
    site::unroll<Components>([&](auto c) {
      const Pair<T> number = of_site[c * rows];
      z[c] = {{number.re}, {number.im}};
    });
  }
};

/// The sums over sites of a_v^* b_w for all v and w, or where Hermitian for v <= w. A thread has one pair of vectors, for which it goes
/// through the sites of the block's tiles or, where there are threads for every pair several times, through some of them.
template <class F, int Components, bool Chunked, bool Hermitian>
__global__ void __launch_bounds__(most_product_threads, 2) products_range(const blas::ProductsArguments<F> a, int pairs, int sites_bits,
                                                                          const std::int32_t* stop, std::uint32_t sites, SumTable* tables) {
  if (stop != nullptr && *stop != 0) return;
  extern __shared__ __align__(16) unsigned char memory[];
  const bool same = a.a == a.b;
  const Tile<F, Components, Chunked> tile{reinterpret_cast<Pair<Real<F>>*>(memory), a.a_vectors + (same ? 0 : a.b_vectors), sites_bits};
  const int first_right = same ? 0 : a.a_vectors;
  const int groups = static_cast<int>(blockDim.x) / pairs, group = static_cast<int>(threadIdx.x) / pairs,
            pair = static_cast<int>(threadIdx.x) % pairs;
  int v = pair / a.b_vectors, w = pair % a.b_vectors;
  if constexpr (Hermitian) {
    for (v = 0, w = pair; w >= a.a_vectors - v; ++v) w -= a.a_vectors - v;
    w += v;
  }
  SumTable &of_re = tables[Hermitian ? v * a.a_vectors + w : 2 * pair], &of_im = tables[Hermitian ? w * a.a_vectors + v : 2 * pair + 1];
  const bool wants_im = !Hermitian || w > v;
  DigitSum re, im;
  const std::uint32_t of_tile = 1u << sites_bits;
  for (std::uint32_t begin = blockIdx.x * of_tile; begin < sites; begin += gridDim.x * of_tile) {
    const auto count = static_cast<int>(min(of_tile, sites - begin));
    tile.load(a.a, a.a_vectors, 0, begin, count, a.lanes);
    if (!same) tile.load(a.b, a.b_vectors, first_right, begin, count, a.lanes);
    __syncthreads();
    for (int s = group; group < groups && s < count; s += groups) {
      site::Complex<Lane<Real<F>>> left[Components], right[Components];
      tile.read(left, s, v);
      tile.read(right, s, first_right + w);
      const auto product = blas::product_of_vectors(left, right);
      double x = static_cast<double>(product.re.v), y = wants_im ? static_cast<double>(product.im.v) : 0.0;
      if (re.is_beyond(x) || im.is_beyond(y)) {
        re.widen(x, of_re);
        im.widen(y, of_im);
      }
      re.add(x);
      im.add(y);
    }
    __syncthreads();
  }
  re.flush(of_re);
  im.flush(of_im);
}

template <class F, int Components, bool Chunked, bool Hermitian>
void launch_pairs(const blas::ProductsArguments<F>& a, int pairs, std::int64_t outer_sites, const std::int32_t* stop,
                  runtime::CudaStream stream) {
  const std::int64_t sites = outer_sites * a.lanes;
  if (sites == 0) return;
  // Several blocks of a multiprocessor: some load while others multiply. A block ends with atomic additions to six limbs for each pair, so
  // it has several tiles. Measured on an H200 (docs/results/2026-11-30-h200.md).
  constexpr std::size_t most_bytes = 32 << 10;
  constexpr int usual_threads = 256;
  constexpr std::int64_t most_blocks = 800, least_tiles = 4;
  Tile<F, Components, Chunked> tile{nullptr, a.a_vectors + (a.a == a.b ? 0 : a.b_vectors), 6};
  const std::size_t site_bytes = static_cast<std::size_t>(tile.site_pairs()) * sizeof(Pair<Real<F>>);
  while (tile.sites_bits > 0 && site_bytes << tile.sites_bits > most_bytes) --tile.sites_bits;
  const int threads = (pairs * std::max(1, usual_threads / pairs) + arch::warp_threads - 1) / arch::warp_threads * arch::warp_threads;
  const std::int64_t tiles = (sites >> tile.sites_bits) + 1;
  runtime::launch_with_shared_memory(products_range<F, Components, Chunked, Hermitian>, site_bytes << tile.sites_bits, false,
                                     static_cast<unsigned>(std::clamp<std::int64_t>(tiles / least_tiles, 1, most_blocks)),
                                     static_cast<unsigned>(threads), stream, a, pairs, tile.sites_bits, stop,
                                     static_cast<std::uint32_t>(sites), sum_tables());
}

}  // namespace

template <int Components, bool Chunked, class F>
void launch_multiply(const blas::MultiplyArguments<F>& a, std::int64_t outer_sites, const std::int32_t* stop, runtime::CudaStream stream) {
  constexpr unsigned threads = 128;
  const auto sites = static_cast<std::uint32_t>(outer_sites * a.lanes);
  if (sites == 0) return;
  const unsigned blocks = (sites + threads - 1) / threads;
  if constexpr (is_half<F>) {
    multiply_sites<F, Components, Chunked><<<blocks, threads, 0, stream>>>(a, stop, sites);
  } else {
    const std::size_t of_matrix = static_cast<std::size_t>(a.in_vectors * a.vectors) * sizeof(Pair<Real<F>>);
    const auto launch = [&](auto most) {
      constexpr unsigned parts = Components / WordsOf<F, Components, Chunked>::at_a_time;
      multiply_range<F, Components, Chunked, most><<<dim3(blocks, parts), threads, of_matrix, stream>>>(a, stop, sites);
    };
    if (a.in_vectors <= most_vectors / 2) launch(site::Index<most_vectors / 2>{});
    else launch(site::Index<most_vectors>{});
  }
  runtime::check_launch("blas.multiply");
}

template <int Components, bool Chunked, class F>
void launch_gram(const blas::GramArguments<F>& a, std::int64_t outer_sites, const std::int32_t* stop, runtime::CudaStream stream) {
  launch_pairs<F, Components, Chunked, true>({a.a, a.b, a.vectors, a.vectors, a.lanes}, a.vectors * (a.vectors + 1) / 2, outer_sites, stop,
                                             stream);
  runtime::check_launch("blas.gram");
}

template <int Components, bool Chunked, class F>
void launch_products(const blas::ProductsArguments<F>& a, std::int64_t outer_sites, runtime::CudaStream stream) {
  launch_pairs<F, Components, Chunked, false>(a, a.a_vectors * a.b_vectors, outer_sites, nullptr, stream);
  runtime::check_launch("blas.products");
}

#define QUARKSTAR_GRAM_LAUNCHES(F, components, chunked)                                                                                  \
  template void launch_multiply<components, chunked>(const blas::MultiplyArguments<F>&, std::int64_t, const std::int32_t*,               \
                                                     runtime::CudaStream);                                                               \
  template void launch_gram<components, chunked>(const blas::GramArguments<F>&, std::int64_t, const std::int32_t*, runtime::CudaStream); \
  template void launch_products<components, chunked>(const blas::ProductsArguments<F>&, std::int64_t, runtime::CudaStream);
#define QUARKSTAR_GRAM_LAUNCHES_OF(F)   \
  QUARKSTAR_GRAM_LAUNCHES(F, 3, false)  \
  QUARKSTAR_GRAM_LAUNCHES(F, 12, false) \
  QUARKSTAR_GRAM_LAUNCHES(F, 12, true)
QUARKSTAR_GRAM_LAUNCHES_OF(Half)
QUARKSTAR_GRAM_LAUNCHES_OF(float)
QUARKSTAR_GRAM_LAUNCHES_OF(double)

}  // namespace quarkstar::cuda
