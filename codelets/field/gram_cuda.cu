#include "codelets/arch/cuda_sum.cuh"
#include "codelets/field/blas_cuda.cuh"
#include "codelets/field/gram_cuda.hpp"

namespace quarkstar::cuda {
namespace {

template <class F, int Components, bool Chunked>
using WordsOf = std::conditional_t<Chunked, WordsInChunks<F, Components>, blas::WordsInRows>;

// One thread per lane of an outer site.

template <class F, int Components, bool Chunked>
__global__ void __launch_bounds__(128) multiply_range(const blas::MultiplyArguments<F> a, const std::int32_t* stop, std::uint32_t sites) {
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x, lanes = static_cast<std::uint32_t>(a.lanes);
  if (*stop != 0 || id >= sites) return;
  blas::multiply_site<F, Components, WordsOf<F, Components, Chunked>, Lane<Real<F>>>(a, id / lanes, id % lanes);
}

/// All n vectors at a site.
template <class Words, class F, int Components, class V>
__device__ void load_vectors(site::Complex<V> (&block)[most_vectors][Components], const F* field, int n, std::uint32_t id, int lanes) {
  const auto width = static_cast<std::uint32_t>(lanes);
  for (int v = 0; v < n; ++v)
    blas::load_vector<Words>(block[v], blas::vector_at<F, Components>(field, id / width, n, v, lanes), id % width, lanes);
}

/// Every thread of a block takes part in every sum.
template <class F, int Components, bool Chunked>
__global__ void __launch_bounds__(256)
    gram_range(const blas::GramArguments<F> a, const std::int32_t* stop, std::uint32_t sites, SumTable* tables) {
  using V = Lane<Real<F>>;
  using Words = WordsOf<F, Components, Chunked>;
  if (*stop != 0) return;
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  site::Complex<V> left[most_vectors][Components], right[most_vectors][Components];
  if (id < sites) {
    load_vectors<Words>(left, a.a, a.vectors, id, a.lanes);
    load_vectors<Words>(right, a.b, a.vectors, id, a.lanes);
  }
  for (int v = 0; v < a.vectors; ++v)
    for (int w = v; w < a.vectors; ++w) {
      site::Complex<V> product{{0}, {0}};
      if (id < sites) product = blas::product_of_vectors(left[v], right[w]);
      add_to_table(tables[v * a.vectors + w], static_cast<double>(product.re.v));
      if (w > v) add_to_table(tables[w * a.vectors + v], static_cast<double>(product.im.v));
    }
}

/// The same for every pair of a vector of one field and one of the other.
template <class F, int Components, bool Chunked>
__global__ void __launch_bounds__(256) products_range(const blas::ProductsArguments<F> a, std::uint32_t sites, SumTable* tables) {
  using V = Lane<Real<F>>;
  using Words = WordsOf<F, Components, Chunked>;
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x, lanes = static_cast<std::uint32_t>(a.lanes);
  site::Complex<V> left[Components], right[most_vectors][Components];
  if (id < sites) load_vectors<Words>(right, a.b, a.b_vectors, id, a.lanes);
  for (int v = 0; v < a.a_vectors; ++v) {
    if (id < sites)
      blas::load_vector<Words>(left, blas::vector_at<F, Components>(a.a, id / lanes, a.a_vectors, v, a.lanes), id % lanes, a.lanes);
    for (int w = 0; w < a.b_vectors; ++w) {
      site::Complex<V> product{{0}, {0}};
      if (id < sites) product = blas::product_of_vectors(left, right[w]);
      add_to_table(tables[2 * (v * a.b_vectors + w)], static_cast<double>(product.re.v));
      add_to_table(tables[2 * (v * a.b_vectors + w) + 1], static_cast<double>(product.im.v));
    }
  }
}

/// So many threads a block.
unsigned blocks_of(std::uint32_t sites, unsigned threads) { return (sites + threads - 1) / threads; }

}  // namespace

template <int Components, bool Chunked, class F>
void launch_multiply(const blas::MultiplyArguments<F>& a, std::int64_t outer_sites, const std::int32_t* stop, runtime::CudaStream stream) {
  constexpr unsigned threads = 128;
  const auto sites = static_cast<std::uint32_t>(outer_sites * a.lanes);
  if (sites == 0) return;
  multiply_range<F, Components, Chunked><<<blocks_of(sites, threads), threads, 0, stream>>>(a, stop, sites);
  runtime::check_launch("blas.multiply");
}

template <int Components, bool Chunked, class F>
void launch_gram(const blas::GramArguments<F>& a, std::int64_t outer_sites, const std::int32_t* stop, runtime::CudaStream stream) {
  constexpr unsigned threads = 256;
  const auto sites = static_cast<std::uint32_t>(outer_sites * a.lanes);
  if (sites == 0) return;
  gram_range<F, Components, Chunked><<<blocks_of(sites, threads), threads, 0, stream>>>(a, stop, sites, sum_tables());
  runtime::check_launch("blas.gram");
}

template <int Components, bool Chunked, class F>
void launch_products(const blas::ProductsArguments<F>& a, std::int64_t outer_sites, runtime::CudaStream stream) {
  constexpr unsigned threads = 256;
  const auto sites = static_cast<std::uint32_t>(outer_sites * a.lanes);
  if (sites == 0) return;
  products_range<F, Components, Chunked><<<blocks_of(sites, threads), threads, 0, stream>>>(a, sites, sum_tables());
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
