#include "codelets/arch/lane_sum.hpp"
#include "codelets/arch/native_width.hpp"
#include "codelets/staggered/vector_blas_kernels.hpp"

#include <vector>

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

template <class F, int VL, class Operation>
void vector_range(const staggered::VectorArguments<F>& arguments, const staggered::VectorNumbers<F>& numbers,
                  std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums) {
  using V = Pack<Real<F>, VL>;
  constexpr int coefficients = Operation::coefficients > 0 ? Operation::coefficients : 1;
  constexpr int sum_count = Operation::sums > 0 ? Operation::sums : 1;
  const staggered::VectorArguments<F> a = arguments;
  std::vector<LaneSum<VL>> totals(static_cast<std::size_t>(Operation::sums * a.vectors));
  for (std::int64_t outer = begin; outer < end; ++outer)
    for (int v = 0; v < a.vectors; ++v) {
      if (a.left_out != nullptr && a.left_out[v] != 0) continue;
      site::Complex<V> c[coefficients];
      for (int k = 0; k < Operation::coefficients; ++k) c[k] = {V::broadcast(numbers[k][v]), V::broadcast(0)};
      for (int lane = 0; lane < a.lanes; lane += VL) {
        V sum[sum_count];
        for (V& s : sum) s = V::broadcast(0);
        staggered::apply_to_vector<Operation>(a, static_cast<std::size_t>(outer), v, lane, c, sum);
        for (int s = 0; s < Operation::sums; ++s) totals[static_cast<std::size_t>(s * a.vectors + v)].add(sum[s]);
      }
    }
  for (LaneSum<VL>& total : totals) (sums++)->merge(total.total());
}

}  // namespace

template <class F, class Operation>
staggered::VectorKernel<F> vector_kernel(int lanes) {
  return with_native_width<Real<F>>(lanes, [](auto width) { return vector_range<F, width(), Operation>; });
}

#define QUARKSTAR_VECTOR_OPERATION(operation)                                   \
  template staggered::VectorKernel<Half> vector_kernel<Half, operation>(int);   \
  template staggered::VectorKernel<float> vector_kernel<float, operation>(int); \
  template staggered::VectorKernel<double> vector_kernel<double, operation>(int);
QUARKSTAR_FOR_VECTOR_OPERATIONS(QUARKSTAR_VECTOR_OPERATION)

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
