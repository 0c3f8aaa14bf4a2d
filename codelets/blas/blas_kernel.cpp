#include "codelets/arch/lane_sum.hpp"
#include "codelets/blas/blas_kernels.hpp"
#include "codelets/site/unroll.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

template <class T, int VL, class Operation>
void range(const blas::Arguments<T>& arguments, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums) {
  using V = Pack<T, VL>;
  constexpr int fields = blas::field_count<Operation>;
  constexpr int coefficients = Operation::coefficients > 0 ? Operation::coefficients : 1;
  constexpr int sum_count = Operation::sums > 0 ? Operation::sums : 1;
  const blas::Arguments<T> a = arguments;
  site::Complex<V> c[coefficients];
  for (int k = 0; k < Operation::coefficients; ++k) c[k] = {V::broadcast(a.re[k]), V::broadcast(a.im[k])};
  LaneSum<VL> totals[sum_count];
  const std::int64_t site_reals = std::int64_t{2} * a.components * a.lanes;
  for (std::int64_t outer = begin; outer < end; ++outer)
    for (int lane0 = 0; lane0 < a.lanes; lane0 += VL) {
      V sum[sum_count];
      for (V& s : sum) s = V::broadcast(0);
      for (int component = 0; component < a.components; ++component) {
        const std::int64_t re = outer * site_reals + 2 * component * a.lanes + lane0, im = re + a.lanes;
        site::Complex<V> f[fields];
        site::unroll<fields>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
          if constexpr (Operation::uses[i] != blas::Use::out) f[i] = {V::load(a.fields[i] + re), V::load(a.fields[i] + im)};
        });
        Operation::apply(f, c, sum);
        site::unroll<fields>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
          if constexpr (Operation::uses[i] != blas::Use::in) {
            f[i].re.store(a.fields[i] + re);
            f[i].im.store(a.fields[i] + im);
          }
        });
      }
      for (int s = 0; s < Operation::sums; ++s) totals[s].add(sum[s]);
    }
  for (int s = 0; s < Operation::sums; ++s) sums[s].merge(totals[s].total());
}

}  // namespace

template <class T, class Operation>
blas::Kernel<T> blas_kernel(int lanes) {
  constexpr int native = native_lanes<T>;
  if (lanes >= native) return range<T, native, Operation>;
  // A block narrower than a register: half-width vectors where it has that many lanes, else one at a time.
  constexpr int half = native / 2;
  if constexpr (half * sizeof(T) >= 32)
    if (lanes >= half) return range<T, half, Operation>;
  return range<T, 1, Operation>;
}

#define QUARKSTAR_BLAS_OPERATION(operation)                              \
  template blas::Kernel<float> blas_kernel<float, blas::operation>(int); \
  template blas::Kernel<double> blas_kernel<double, blas::operation>(int);
QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_BLAS_OPERATION)

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
