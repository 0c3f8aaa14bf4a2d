#include "codelets/arch/bulk_copies.cuh"
#include "codelets/arch/digit_sum.cuh"
#include "codelets/field/blas_cuda.cuh"
#include "codelets/field/gram_cuda.hpp"

namespace quarkstar::cuda {
namespace {

template <class F, int Components, bool Chunked, class Loads = CachedLoads>
using WordsOf = std::conditional_t<Chunked, WordsInChunks<F, Components, Loads>, blas::WordsInRows>;

/// One number of a vector at a site in shared memory, which a thread reads at once.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T re, im;
};

/// One thread per lane of an outer site (x) and part of a vector's components (y), for which it has the sums of all results, at most Most.
/// They run over the vectors of `in` in their order, as on a CPU.
template <class F, int Components, bool Chunked, int Most>
__global__ void __launch_bounds__(128) multiply_range(const blas::MultiplyArguments<F> a, const std::int32_t* stop, std::uint32_t sites) {
  using T = Real<F>;
  using V = Lane<T>;
  using Words = WordsOf<F, Components, Chunked>;
  constexpr int at_a_time = Words::at_a_time;
  if (*stop != 0) return;
  extern __shared__ __align__(16) unsigned char memory[];
  auto* const matrix = reinterpret_cast<Pair<T>*>(memory);  // row by row
  for (int i = static_cast<int>(threadIdx.x); i < a.in_vectors * a.vectors; i += static_cast<int>(blockDim.x))
    matrix[i] = {static_cast<T>(a.matrix[i].re), static_cast<T>(a.matrix[i].im)};
  __syncthreads();
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x, lanes = static_cast<std::uint32_t>(a.lanes);
  if (id >= sites) return;
  const std::uint32_t outer = id / lanes, lane = id % lanes;
  const int component = static_cast<int>(blockIdx.y) * at_a_time;
  site::Complex<V> sum[Most][at_a_time];
  site::unroll<Most>([&](auto v) {
    site::unroll<at_a_time>([&](auto k) { sum[v][k] = {V{0}, V{0}}; });
    if (a.base != nullptr && v < a.vectors)
      Words::load(sum[v], blas::vector_at<F, Components>(a.base, outer, a.vectors, v, a.lanes), component, lane, a.lanes);
  });
  constexpr int loads_ahead = Most == 1 ? 8 : 4;
#pragma unroll(loads_ahead)
  for (int w = 0; w < a.in_vectors; ++w) {
    site::Complex<V> in[at_a_time];
    Words::load(in, blas::vector_at<F, Components>(a.in, outer, a.in_vectors, w, a.lanes), component, lane, a.lanes);
    const Pair<T>* const row = matrix + w * a.vectors;
    site::unroll<Most>([&](auto v) {
      if (v >= a.vectors) return;
      const Pair<T> m = row[v];
      site::unroll<at_a_time>([&](auto k) { sum[v][k] = site::multiply_add(site::Complex<V>{{m.re}, {m.im}}, in[k], sum[v][k]); });
    });
  }
  site::unroll<Most>([&](auto v) {
    if (v < a.vectors) Words::store(blas::vector_at<F, Components>(a.out, outer, a.vectors, v, a.lanes), component, lane, a.lanes, sum[v]);
  });
}

/// In half precision a vector is written with its unit: one thread has all its components.
template <class F, int Components, bool Chunked>
__global__ void __launch_bounds__(128) multiply_sites(const blas::MultiplyArguments<F> a, const std::int32_t* stop, std::uint32_t sites) {
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x, lanes = static_cast<std::uint32_t>(a.lanes);
  if (*stop != 0 || id >= sites) return;
  blas::multiply_site<F, Components, WordsOf<F, Components, Chunked>, Lane<Real<F>>>(a, id / lanes, id % lanes);
}

/// Threads of a block at most. Each has pairs_of_side^2 pairs of vectors, for which it reads a number of 2 pairs_of_side vectors: with one
/// pair, reading from shared memory is what takes the time.
constexpr int most_product_threads = 512, pairs_of_side = 2, pairs_of_thread = pairs_of_side * pairs_of_side;
/// Lanes of a site that threads have at once.
constexpr int lanes_at_once = 8;

/// Words of a vector at an outer site.
template <class F, int Components>
QUARKSTAR_HD int row_words(int lanes) {
  return NumberFormat<F>::site_words(2 * Components) * lanes;
}
/// Threads that have vectors of n.
QUARKSTAR_HD int threads_for(int n) { return (n + pairs_of_side - 1) / pairs_of_side; }

/// Outer sites of two fields, all their vectors, as they are stored, in a ring of places in shared memory.
struct SitesInShared {
  static constexpr int most_places = 3;
  unsigned char* memory;
  Arrival* arrived;       ///< of each place
  int of_left, of_right;  ///< bytes of an outer site; of_right 0: the fields are one
  int sites, places;      ///< sites: of a place
  QUARKSTAR_HD int bytes() const { return sites * (of_left + of_right); }
  /// Bulk copies need whole pieces of 16 bytes.
  __device__ __forceinline__ bool in_bulk() const { return Arrival::bulk && of_left % 16 == 0 && of_right % 16 == 0; }
  __device__ __forceinline__ const unsigned char* left(int place, int site) const { return memory + place * bytes() + site * of_left; }
  __device__ __forceinline__ const unsigned char* right(int place, int site) const {
    return of_right == 0 ? left(place, site) : memory + place * bytes() + sites * of_left + site * of_right;
  }
  /// By all threads: starts to bring `count` outer sites from the first on.
  __device__ __forceinline__ void fetch(int place, const void* a, const void* b, std::uint32_t first, int count) const {
    const auto* const from_left = static_cast<const unsigned char*>(a) + std::size_t{first} * of_left;
    const auto* const from_right = static_cast<const unsigned char*>(b) + std::size_t{first} * of_right;
    unsigned char *const to_left = memory + place * bytes(), *const to_right = to_left + sites * of_left;
    if (in_bulk()) {
      if (threadIdx.x != 0) return;
      arrived[place].expect(static_cast<unsigned>(count * (of_left + of_right)));
      arrived[place].copy(to_left, from_left, static_cast<unsigned>(count * of_left));
      if (of_right > 0) arrived[place].copy(to_right, from_right, static_cast<unsigned>(count * of_right));
      arrived[place].done();
      return;
    }
    const auto copy = [](unsigned char* to, const unsigned char* from, int bytes) {
      for (int i = static_cast<int>(threadIdx.x) * 4; i < bytes; i += static_cast<int>(blockDim.x) * 4)
        *reinterpret_cast<unsigned*>(to + i) = *reinterpret_cast<const unsigned*>(from + i);
    };
    copy(to_left, from_left, count * of_left);
    copy(to_right, from_right, count * of_right);
  }
  /// time: how often the place was used before.
  __device__ __forceinline__ void wait(int place, unsigned time) const {
    if (in_bulk()) arrived[place].wait(time & 1);
    else __syncthreads();
  }
};

/// The sums over sites of a_v^* b_w for all v and w, or where Hermitian for v <= w. A thread has two vectors of each field and their four
/// pairs at a lane; so there are `groups` of threads, one for each lane, of all_groups that blocks of different y have. At the end the sums
/// of a block's lanes are added, so that few atomic additions are left. While the sites of one place are computed those of the others come.
template <class F, int Components, bool Chunked, bool Hermitian>
__global__ void __launch_bounds__(most_product_threads, 1)
    products_range(const blas::ProductsArguments<F> a, int groups, int all_groups, int sites_of_place, int places, const std::int32_t* stop,
                   std::uint32_t outer_sites, SumTable* tables) {
  using V = Lane<Real<F>>;
  using Words = WordsOf<F, Components, Chunked, SharedLoads>;
  if (stop != nullptr && *stop != 0) return;
  extern __shared__ __align__(16) unsigned char memory[];
  const bool same = a.a == a.b;
  const int lanes = min(a.lanes, lanes_at_once), lane = static_cast<int>(threadIdx.x) % lanes,
            group = static_cast<int>(threadIdx.x) / lanes, pairs = static_cast<int>(blockIdx.y) * groups + group;
  const int lanes_of_thread = a.lanes / lanes;
  const bool works = group < groups && pairs < all_groups;
  const int right_threads = threads_for(a.b_vectors);
  int left = pairs / right_threads, right = pairs % right_threads;
  if constexpr (Hermitian) {
    for (left = 0, right = pairs; right >= right_threads - left && left < right_threads; ++left) right -= right_threads - left;
    right += left;
  }
  __shared__ Arrival arrived[SitesInShared::most_places];
  const int row_bytes = row_words<F, Components>(a.lanes) * static_cast<int>(sizeof(F));
  const SitesInShared shared{memory, arrived, a.a_vectors * row_bytes, same ? 0 : a.b_vectors * row_bytes, sites_of_place, places};
  // Of an odd number of vectors the last thread has one twice.
  const auto row_of = [&](int thread, int i, int n) { return min(pairs_of_side * thread + i, n - 1) * row_bytes; };
  int left_row[pairs_of_side], right_row[pairs_of_side];
  site::unroll<pairs_of_side>([&](auto i) {
    left_row[i] = row_of(left, i, a.a_vectors);
    right_row[i] = row_of(right, i, a.b_vectors);
  });
  DigitSum sum[2 * pairs_of_thread];
  unsigned poisoned = 0, summands = 0;
  if (threadIdx.x < places) arrived[threadIdx.x].init(1);
  __syncthreads();
  const std::uint32_t step = gridDim.x * sites_of_place;
  const auto count_from = [&](std::uint32_t begin) {
    return static_cast<int>(min(outer_sites - begin, static_cast<std::uint32_t>(sites_of_place)));
  };
  const auto fetch = [&](int place, std::uint32_t begin) {
    if (begin < outer_sites) shared.fetch(place, a.a, a.b, begin, count_from(begin));
  };
  for (int i = 0; i < places - 1; ++i) fetch(i, blockIdx.x * sites_of_place + i * step);
  int place = 0;
  unsigned time = 0;
  for (std::uint32_t begin = blockIdx.x * sites_of_place; begin < outer_sites; begin += step) {
    __syncthreads();  // nobody reads the sites before any more
    fetch(place == 0 ? places - 1 : place - 1, begin + (places - 1) * step);
    shared.wait(place, time);
    for (int i = 0; works && i < count_from(begin) * lanes_of_thread; ++i) {
      const int own = i / lanes_of_thread, l = lane + i % lanes_of_thread * lanes;
      const unsigned char *const left_vectors = shared.left(place, own), *const right_vectors = shared.right(place, own);
      site::Complex<V> product[pairs_of_thread];
      V unit[2][pairs_of_side];
      const auto load = [&](auto& z, int side, int i, int part) {
        const auto* const row = reinterpret_cast<const F*>(side == 0 ? left_vectors + left_row[i] : right_vectors + right_row[i]);
        Words::load(z, row, part * Words::at_a_time, l, a.lanes);
        if constexpr (is_half<F>) {
          site::unroll<Words::at_a_time>([&](auto k) { z[k] = {z[k].re * unit[side][i], z[k].im * unit[side][i]}; });
        }
      };
      if constexpr (is_half<F>)
        site::unroll<pairs_of_side>([&](auto i) {
          unit[0][i] = V::load(reinterpret_cast<const float*>(left_vectors + left_row[i]) + l);
          unit[1][i] = V::load(reinterpret_cast<const float*>(right_vectors + right_row[i]) + l);
        });
      const auto add_part = [&](int part, auto is_first) {
        site::Complex<V> x[pairs_of_side][Words::at_a_time], y[pairs_of_side][Words::at_a_time];
        site::unroll<pairs_of_side>([&](auto i) {
          load(x[i], 0, i, part);
          load(y[i], 1, i, part);
        });
        site::unroll<Words::at_a_time>([&](auto k) {
          site::unroll<pairs_of_thread>([&](auto p) {
            const site::Complex<V>&of_left = x[p / pairs_of_side][k], &of_right = y[p % pairs_of_side][k];
            if constexpr (is_first && k == 0) product[p] = site::conjugate_multiply(of_left, of_right);
            else product[p] = site::conjugate_multiply_add(of_left, of_right, product[p]);
          });
        });
      };
      constexpr int parts_ahead = 2;
      add_part(0, std::true_type{});
#pragma unroll(parts_ahead)
      for (int part = 1; part < Components / Words::at_a_time; ++part) add_part(part, std::false_type{});
      double x[2 * pairs_of_thread];
      site::unroll<2 * pairs_of_thread>(
          [&](auto i) { x[i] = static_cast<double>(i % 2 == 0 ? product[i / 2].re.v : product[i / 2].im.v); });
      add_to_digits(sum, x, summands, poisoned);
      ++summands;
    }
    if (++place == places) {
      place = 0;
      ++time;
    }
  }
  auto* const exchange = reinterpret_cast<runtime::BinnedSum*>(memory);
  site::unroll<2 * pairs_of_thread>([&](auto i) {
    runtime::BinnedSum total = sum[i].value(summands);
    total.poisoned = static_cast<int>(poisoned >> i & 1);
    __syncthreads();
    exchange[threadIdx.x] = total;
    __syncthreads();
    constexpr bool is_im = i % 2 == 1;
    const int v = pairs_of_side * left + i / 2 / pairs_of_side, w = pairs_of_side * right + i / 2 % pairs_of_side;
    if (works && lane == 0 && v < a.a_vectors && w < a.b_vectors && (!Hermitian || v < w || (v == w && !is_im))) {
      for (int other = 1; other < lanes; ++other) total.merge(exchange[threadIdx.x + other]);
      add_to_table(tables[!Hermitian ? 2 * (v * a.b_vectors + w) + is_im : is_im ? w * a.a_vectors + v : v * a.a_vectors + w], total);
    }
  });
}

template <class F, int Components, bool Chunked, bool Hermitian>
void launch_pairs(const blas::ProductsArguments<F>& a, std::int64_t outer_sites, const std::int32_t* stop, runtime::CudaStream stream) {
  if (outer_sites == 0) return;
  const int left = threads_for(a.a_vectors), right = threads_for(a.b_vectors), lanes = std::min(a.lanes, lanes_at_once),
            all_groups = Hermitian ? left * (left + 1) / 2 : left * right,
            blocks = (all_groups * lanes + most_product_threads - 1) / most_product_threads, groups = (all_groups + blocks - 1) / blocks,
            threads = (groups * lanes + arch::warp_threads - 1) / arch::warp_threads * arch::warp_threads;
  const int row_bytes = row_words<F, Components>(a.lanes) * static_cast<int>(sizeof(F));
  const SitesInShared site{nullptr, nullptr, a.a_vectors * row_bytes, a.a == a.b ? 0 : a.b_vectors * row_bytes, 1, 1};
  int device = 0, multiprocessors = 0, room = 0;
  (void)cudaGetDevice(&device);
  (void)cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  (void)cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  constexpr int most_sites = 8, reserved = 1 << 10;
  const int resident = std::max(1, most_product_threads / threads);  // blocks of a multiprocessor
  room = room / resident - reserved;
  const int sites_of_place = std::clamp(room / SitesInShared::most_places / site.bytes(), 1, most_sites);
  const int places = std::clamp(room / (sites_of_place * site.bytes()), 1, SitesInShared::most_places);
  const int bytes = std::max(places * sites_of_place * site.bytes(), threads * static_cast<int>(sizeof(runtime::BinnedSum)));
  const std::int64_t most_blocks = (outer_sites + sites_of_place - 1) / sites_of_place;
  runtime::launch_with_shared_memory(
      products_range<F, Components, Chunked, Hermitian>, static_cast<std::size_t>(bytes), false,
      dim3(static_cast<unsigned>(std::min<std::int64_t>(most_blocks, multiprocessors * resident)), static_cast<unsigned>(blocks)),
      static_cast<unsigned>(threads), stream, a, groups, all_groups, sites_of_place, places, stop, static_cast<std::uint32_t>(outer_sites),
      sum_tables());
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
    if (a.vectors == 1) launch(site::Index<1>{});
    else if (a.vectors <= most_vectors / 4) launch(site::Index<most_vectors / 4>{});
    else if (a.vectors <= 12) launch(site::Index<12>{});  // the columns of a propagator
    else if (a.vectors <= most_vectors / 2) launch(site::Index<most_vectors / 2>{});
    else launch(site::Index<most_vectors>{});
  }
  runtime::check_launch("blas.multiply");
}

template <int Components, bool Chunked, class F>
void launch_gram(const blas::GramArguments<F>& a, std::int64_t outer_sites, const std::int32_t* stop, runtime::CudaStream stream) {
  launch_pairs<F, Components, Chunked, true>({a.a, a.b, a.vectors, a.vectors, a.lanes}, outer_sites, stop, stream);
  runtime::check_launch("blas.gram");
}

template <int Components, bool Chunked, class F>
void launch_products(const blas::ProductsArguments<F>& a, std::int64_t outer_sites, runtime::CudaStream stream) {
  launch_pairs<F, Components, Chunked, false>(a, outer_sites, nullptr, stream);
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
