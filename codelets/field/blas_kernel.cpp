#include "codelets/arch/lane_sum.hpp"
#include "codelets/arch/native_width.hpp"
#include "codelets/field/blas_kernels.hpp"
#include "codelets/field/blas_site.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

template <class F, int VL, class Operation>
void range(const blas::Arguments<F>& arguments, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums) {
  using V = Pack<Real<F>, VL>;
  constexpr int coefficients = Operation::coefficients > 0 ? Operation::coefficients : 1;
  constexpr int sum_count = Operation::sums > 0 ? Operation::sums : 1;
  const blas::Arguments<F> a = arguments;
  site::Complex<V> c[coefficients];
  for (int k = 0; k < Operation::coefficients; ++k) c[k] = {V::broadcast(a.re[k]), V::broadcast(a.im[k])};
  LaneSum<VL> totals[sum_count];
  const std::int64_t site_words = std::int64_t{NumberFormat<F>::site_words(2 * blas::spinor_components)} * a.lanes;
  for (std::int64_t outer = begin; outer < end; ++outer)
    for (int lane0 = 0; lane0 < a.lanes; lane0 += VL) {
      V sum[sum_count];
      for (V& s : sum) s = V::broadcast(0);
      blas::apply_to_site<Operation, blas::spinor_components>(a.fields, static_cast<std::size_t>(outer * site_words + lane0), a.lanes, c,
                                                              sum);
      for (int s = 0; s < Operation::sums; ++s) totals[s].add(sum[s]);
    }
  for (int s = 0; s < Operation::sums; ++s) sums[s].merge(totals[s].total());
}

}  // namespace

template <class F, class Operation>
blas::Kernel<F> blas_kernel(int lanes) {
  return with_native_width<Real<F>>(lanes, [](auto width) { return range<F, width(), Operation>; });
}

#define QUARKSTAR_BLAS_OPERATION(operation)                              \
  template blas::Kernel<Half> blas_kernel<Half, blas::operation>(int);   \
  template blas::Kernel<float> blas_kernel<float, blas::operation>(int); \
  template blas::Kernel<double> blas_kernel<double, blas::operation>(int);
QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_BLAS_OPERATION)

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
