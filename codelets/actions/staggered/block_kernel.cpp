#include "codelets/actions/staggered/block_kernels.hpp"
#include "codelets/arch/lane_sum.hpp"
#include "codelets/arch/native_width.hpp"

#include <vector>

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

template <class F, int VL>
void multiply_range(const staggered::BlockMultiplyArguments<F>& arguments, std::int64_t begin, std::int64_t end) {
  const staggered::BlockMultiplyArguments<F> a = arguments;
  const std::size_t site_words = static_cast<std::size_t>(a.vectors * staggered::vector_words<F> * a.lanes);
  for (std::int64_t outer = begin; outer < end; ++outer)
    for (int lane = 0; lane < a.lanes; lane += VL)
      staggered::block_multiply_site<F, Pack<Real<F>, VL>>(a,
                                                           static_cast<std::size_t>(outer) * site_words + static_cast<std::size_t>(lane));
}

template <class F, int VL>
void gram_range(const staggered::BlockGramArguments<F>& a, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums) {
  using V = Pack<Real<F>, VL>;
  const int n = a.vectors;
  const std::size_t site_words = static_cast<std::size_t>(n * staggered::vector_words<F> * a.lanes);
  std::vector<LaneSum<VL>> totals(static_cast<std::size_t>(n * n));
  for (std::int64_t outer = begin; outer < end; ++outer)
    for (int lane = 0; lane < a.lanes; lane += VL) {
      const std::size_t at = static_cast<std::size_t>(outer) * site_words + static_cast<std::size_t>(lane);
      site::Complex<V> left[staggered::most_vectors][3], right[staggered::most_vectors][3];
      staggered::load_block<F, V>(left, a.a + at, n, a.lanes);
      staggered::load_block<F, V>(right, a.b + at, n, a.lanes);
      for (int v = 0; v < n; ++v)
        for (int w = v; w < n; ++w) {
          const site::Complex<V> product = staggered::colour_product(left[v], right[w]);
          totals[static_cast<std::size_t>(v * n + w)].add(product.re);
          if (w > v) totals[static_cast<std::size_t>(w * n + v)].add(product.im);
        }
    }
  for (int s = 0; s < n * n; ++s) sums[s].merge(totals[static_cast<std::size_t>(s)].total());
}

}  // namespace

template <class F>
staggered::BlockMultiplyKernel<F> block_multiply_kernel(int lanes) {
  return with_native_width<Real<F>>(lanes, [](auto vl) -> staggered::BlockMultiplyKernel<F> { return multiply_range<F, vl>; });
}
template <class F>
staggered::BlockGramKernel<F> block_gram_kernel(int lanes) {
  return with_native_width<Real<F>>(lanes, [](auto vl) -> staggered::BlockGramKernel<F> { return gram_range<F, vl>; });
}

#define QUARKSTAR_BLOCK_KERNELS(F)                                          \
  template staggered::BlockMultiplyKernel<F> block_multiply_kernel<F>(int); \
  template staggered::BlockGramKernel<F> block_gram_kernel<F>(int);
QUARKSTAR_BLOCK_KERNELS(Half)
QUARKSTAR_BLOCK_KERNELS(float)
QUARKSTAR_BLOCK_KERNELS(double)

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
