#include "codelets/arch/cuda_sum.cuh"
#include "codelets/field/gram_cuda.hpp"

namespace quarkstar::cuda {
namespace {

/// Offset of a thread's site: one thread per lane of an outer site.
template <class F, int Components>
__device__ std::size_t site_offset(std::uint32_t id, int vectors, int lanes) {
  const auto width = static_cast<std::uint32_t>(lanes);
  return static_cast<std::size_t>(id / width) * static_cast<std::size_t>(vectors * NumberFormat<F>::site_words(2 * Components) * lanes) +
         id % width;
}

template <class F, int Components>
__global__ void __launch_bounds__(128) multiply_range(const blas::MultiplyArguments<F> a, const std::int32_t* stop, std::uint32_t sites) {
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (*stop != 0 || id >= sites) return;
  blas::multiply_site<F, Components, Lane<Real<F>>>(a, site_offset<F, Components>(id, a.vectors, a.lanes));
}

/// Every thread of a block takes part in every sum.
template <class F, int Components>
__global__ void __launch_bounds__(256)
    gram_range(const blas::GramArguments<F> a, const std::int32_t* stop, std::uint32_t sites, SumTable* tables) {
  using V = Lane<Real<F>>;
  if (*stop != 0) return;
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  site::Complex<V> left[most_vectors][Components], right[most_vectors][Components];
  if (id < sites) {
    const std::size_t at = site_offset<F, Components>(id, a.vectors, a.lanes);
    blas::load_vectors<F>(left, a.a + at, a.vectors, a.lanes);
    blas::load_vectors<F>(right, a.b + at, a.vectors, a.lanes);
  }
  for (int v = 0; v < a.vectors; ++v)
    for (int w = v; w < a.vectors; ++w) {
      site::Complex<V> product{{0}, {0}};
      if (id < sites) product = blas::product_of_vectors(left[v], right[w]);
      add_to_table(tables[v * a.vectors + w], static_cast<double>(product.re.v));
      if (w > v) add_to_table(tables[w * a.vectors + v], static_cast<double>(product.im.v));
    }
}

}  // namespace

template <int Components, class F>
void launch_multiply(const blas::MultiplyArguments<F>& a, std::int64_t outer_sites, const std::int32_t* stop, runtime::CudaStream stream) {
  constexpr unsigned threads = 128;
  const auto sites = static_cast<std::uint32_t>(outer_sites * a.lanes);
  if (sites == 0) return;
  multiply_range<F, Components><<<(sites + threads - 1) / threads, threads, 0, stream>>>(a, stop, sites);
  runtime::check_launch("blas.multiply");
}

template <int Components, class F>
void launch_gram(const blas::GramArguments<F>& a, std::int64_t outer_sites, const std::int32_t* stop, runtime::CudaStream stream) {
  constexpr unsigned threads = 256;
  const auto sites = static_cast<std::uint32_t>(outer_sites * a.lanes);
  if (sites == 0) return;
  gram_range<F, Components><<<(sites + threads - 1) / threads, threads, 0, stream>>>(a, stop, sites, sum_tables());
  runtime::check_launch("blas.gram");
}

#define QUARKSTAR_GRAM_LAUNCHES(F, components)                                                                                          \
  template void launch_multiply<components>(const blas::MultiplyArguments<F>&, std::int64_t, const std::int32_t*, runtime::CudaStream); \
  template void launch_gram<components>(const blas::GramArguments<F>&, std::int64_t, const std::int32_t*, runtime::CudaStream);
QUARKSTAR_GRAM_LAUNCHES(Half, 3)
QUARKSTAR_GRAM_LAUNCHES(float, 3)
QUARKSTAR_GRAM_LAUNCHES(double, 3)
QUARKSTAR_GRAM_LAUNCHES(Half, 12)
QUARKSTAR_GRAM_LAUNCHES(float, 12)
QUARKSTAR_GRAM_LAUNCHES(double, 12)

}  // namespace quarkstar::cuda
