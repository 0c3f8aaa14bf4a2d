#pragma once
// CPU driver of the vector operations.
#include "codelets/arch/lane_sum.hpp"
#include "codelets/arch/native_width.hpp"
#include "codelets/field/blas_kernels.hpp"

#include <algorithm>
#include <vector>

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

/// Arrays of no elements are no C++.
constexpr int at_least_one(int count) { return count > 0 ? count : 1; }

template <class F, int VL, int Components, class Operation>
void blas_range(const blas::Arguments<F>& arguments, const blas::Numbers<F>& numbers, std::int64_t begin, std::int64_t end,
                runtime::BinnedSum* sums) {
  using V = Pack<Real<F>, VL>;
  constexpr int sum_count = at_least_one(Operation::sums);
  const blas::Arguments<F> a = arguments;
  std::vector<LaneSum<VL>> totals(static_cast<std::size_t>(Operation::sums * a.vectors));
  // The vectors of a site lie side by side. Of a single one the sums stay in registers all along.
  const std::int64_t sites_at_a_time = a.vectors == 1 ? std::max<std::int64_t>(end - begin, 1) : 1;
  for (std::int64_t first = begin; first < end; first += sites_at_a_time)
    for (int v = 0; v < a.vectors; ++v) {
      if (a.left_out != nullptr && a.left_out[v] != 0) continue;
      site::Complex<V> c[at_least_one(Operation::coefficients)];
      for (int k = 0; k < Operation::coefficients; ++k) c[k] = {V::broadcast(numbers.re[k][v]), V::broadcast(numbers.im[k][v])};
      LaneSum<VL> own[sum_count];
      for (int s = 0; s < Operation::sums; ++s) own[s] = totals[static_cast<std::size_t>(s * a.vectors + v)];
      for (std::int64_t outer = first; outer < first + sites_at_a_time; ++outer)
        for (int lane = 0; lane < a.lanes; lane += VL) {
          V sum[sum_count];
          for (V& s : sum) s = V::broadcast(0);
          blas::apply_to_vector<Operation, Components>(a, static_cast<std::size_t>(outer), v, lane, c, sum);
          for (int s = 0; s < Operation::sums; ++s) own[s].add(sum[s]);
        }
      for (int s = 0; s < Operation::sums; ++s) totals[static_cast<std::size_t>(s * a.vectors + v)] = own[s];
    }
  for (LaneSum<VL>& total : totals) (sums++)->merge(total.total());
}

}  // namespace

template <class F, int Components, class Operation>
blas::Kernel<F> blas_kernel(int lanes) {
  return with_native_width<Real<F>>(lanes, [](auto width) { return blas_range<F, width(), Components, Operation>; });
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME

/// In a *_kernel.cpp: the kernels of one kind of vector.
#define QUARKSTAR_BLAS_KERNELS_OF(F, components, operation) \
  template quarkstar::blas::Kernel<F> quarkstar::QUARKSTAR_ARCH_NAME::blas_kernel<F, components, quarkstar::blas::operation>(int);
