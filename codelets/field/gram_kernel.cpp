#include "codelets/arch/lane_sum.hpp"
#include "codelets/arch/native_width.hpp"
#include "codelets/field/gram_kernels.hpp"

#include <vector>

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

template <class F, int Components, int VL>
void multiply_range(const blas::MultiplyArguments<F>& arguments, std::int64_t begin, std::int64_t end) {
  const blas::MultiplyArguments<F> a = arguments;
  const std::size_t site_words = static_cast<std::size_t>(a.vectors * NumberFormat<F>::site_words(2 * Components) * a.lanes);
  for (std::int64_t outer = begin; outer < end; ++outer)
    for (int lane = 0; lane < a.lanes; lane += VL)
      blas::multiply_site<F, Components, Pack<Real<F>, VL>>(a,
                                                            static_cast<std::size_t>(outer) * site_words + static_cast<std::size_t>(lane));
}

template <class F, int Components, int VL>
void gram_range(const blas::GramArguments<F>& a, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums) {
  using V = Pack<Real<F>, VL>;
  const int n = a.vectors;
  const std::size_t site_words = static_cast<std::size_t>(n * NumberFormat<F>::site_words(2 * Components) * a.lanes);
  std::vector<LaneSum<VL>> totals(static_cast<std::size_t>(n * n));
  for (std::int64_t outer = begin; outer < end; ++outer)
    for (int lane = 0; lane < a.lanes; lane += VL) {
      const std::size_t at = static_cast<std::size_t>(outer) * site_words + static_cast<std::size_t>(lane);
      site::Complex<V> left[most_vectors][Components], right[most_vectors][Components];
      blas::load_vectors<F>(left, a.a + at, n, a.lanes);
      blas::load_vectors<F>(right, a.b + at, n, a.lanes);
      for (int v = 0; v < n; ++v)
        for (int w = v; w < n; ++w) {
          const site::Complex<V> product = blas::product_of_vectors(left[v], right[w]);
          totals[static_cast<std::size_t>(v * n + w)].add(product.re);
          if (w > v) totals[static_cast<std::size_t>(w * n + v)].add(product.im);
        }
    }
  for (int s = 0; s < n * n; ++s) sums[s].merge(totals[static_cast<std::size_t>(s)].total());
}

}  // namespace

template <class F, int Components>
blas::MultiplyKernel<F> multiply_kernel(int lanes) {
  return with_native_width<Real<F>>(lanes, [](auto vl) -> blas::MultiplyKernel<F> { return multiply_range<F, Components, vl>; });
}
template <class F, int Components>
blas::GramKernel<F> gram_kernel(int lanes) {
  return with_native_width<Real<F>>(lanes, [](auto vl) -> blas::GramKernel<F> { return gram_range<F, Components, vl>; });
}

#define QUARKSTAR_GRAM_KERNELS(F)                               \
  template blas::MultiplyKernel<F> multiply_kernel<F, 3>(int);  \
  template blas::MultiplyKernel<F> multiply_kernel<F, 12>(int); \
  template blas::GramKernel<F> gram_kernel<F, 3>(int);          \
  template blas::GramKernel<F> gram_kernel<F, 12>(int);
QUARKSTAR_GRAM_KERNELS(Half)
QUARKSTAR_GRAM_KERNELS(float)
QUARKSTAR_GRAM_KERNELS(double)

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
