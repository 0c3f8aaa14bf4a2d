#include "codelets/actions/staggered/block_cuda.hpp"
#include "codelets/arch/cuda_sum.cuh"

namespace quarkstar::cuda {
namespace {

/// Offset of a thread's site: one thread a lane of an outer site.
template <class F>
__device__ std::size_t site_offset(std::uint32_t id, int vectors, int lanes) {
  const auto width = static_cast<std::uint32_t>(lanes);
  return static_cast<std::size_t>(id / width) * static_cast<std::size_t>(vectors * staggered::vector_words<F> * lanes) + id % width;
}

template <class F>
__global__ void __launch_bounds__(128)
    multiply_range(const staggered::BlockMultiplyArguments<F> a, const std::int32_t* stop, std::uint32_t sites) {
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  if (*stop != 0 || id >= sites) return;
  staggered::block_multiply_site<F, Lane<Real<F>>>(a, site_offset<F>(id, a.vectors, a.lanes));
}

/// Every thread of a block takes part in every sum.
template <class F>
__global__ void __launch_bounds__(256)
    gram_range(const staggered::BlockGramArguments<F> a, const std::int32_t* stop, std::uint32_t sites, SumTable* tables) {
  using V = Lane<Real<F>>;
  if (*stop != 0) return;
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  site::Complex<V> left[staggered::most_vectors][3], right[staggered::most_vectors][3];
  if (id < sites) {
    const std::size_t at = site_offset<F>(id, a.vectors, a.lanes);
    staggered::load_block<F, V>(left, a.a + at, a.vectors, a.lanes);
    staggered::load_block<F, V>(right, a.b + at, a.vectors, a.lanes);
  }
  for (int v = 0; v < a.vectors; ++v)
    for (int w = v; w < a.vectors; ++w) {
      site::Complex<V> product{{0}, {0}};
      if (id < sites) product = staggered::colour_product(left[v], right[w]);
      add_to_table(tables[v * a.vectors + w], static_cast<double>(product.re.v));
      if (w > v) add_to_table(tables[w * a.vectors + v], static_cast<double>(product.im.v));
    }
}

}  // namespace

template <class F>
void launch_block_multiply(const staggered::BlockMultiplyArguments<F>& a, std::int64_t outer_sites, const std::int32_t* stop,
                           runtime::CudaStream stream) {
  constexpr unsigned threads = 128;
  const auto sites = static_cast<std::uint32_t>(outer_sites * a.lanes);
  if (sites == 0) return;
  multiply_range<F><<<(sites + threads - 1) / threads, threads, 0, stream>>>(a, stop, sites);
  runtime::check_launch("staggered.block_multiply");
}

template <class F>
void launch_block_gram(const staggered::BlockGramArguments<F>& a, std::int64_t outer_sites, const std::int32_t* stop,
                       runtime::CudaStream stream) {
  constexpr unsigned threads = 256;
  const auto sites = static_cast<std::uint32_t>(outer_sites * a.lanes);
  if (sites == 0) return;
  gram_range<F><<<(sites + threads - 1) / threads, threads, 0, stream>>>(a, stop, sites, sum_tables());
  runtime::check_launch("staggered.block_gram");
}

#define QUARKSTAR_BLOCK_LAUNCHES(F)                                                                                   \
  template void launch_block_multiply(const staggered::BlockMultiplyArguments<F>&, std::int64_t, const std::int32_t*, \
                                      runtime::CudaStream);                                                           \
  template void launch_block_gram(const staggered::BlockGramArguments<F>&, std::int64_t, const std::int32_t*, runtime::CudaStream);
QUARKSTAR_BLOCK_LAUNCHES(Half)
QUARKSTAR_BLOCK_LAUNCHES(float)
QUARKSTAR_BLOCK_LAUNCHES(double)

}  // namespace quarkstar::cuda
