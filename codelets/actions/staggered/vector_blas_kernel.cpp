#include "codelets/actions/staggered/vector_blas_kernels.hpp"
#include "codelets/arch/lane_sum.hpp"
#include "codelets/arch/native_width.hpp"

#include <algorithm>
#include <vector>

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

template <class F, int VL, class Operation>
void vector_range(const staggered::VectorArguments<F>& arguments, const staggered::VectorNumbers<F>& numbers, std::int64_t begin,
                  std::int64_t end, runtime::BinnedSum* sums) {
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

/// A group of vectors at one site, of which some stay as they are.
template <class F, class Operation>
class MixedGroup {
  static constexpr int fields = blas::field_count<Operation>, most_words = staggered::vector_words<F> * 16;

 public:
  /// Copies the group, which is at `at` of each field.
  MixedGroup(F* const (&at)[fields], int words) {
    for (int i = 0; i < fields; ++i) {
      copies[i] = copy_[i];
      std::copy_n(at[i], words, copy_[i]);
    }
  }
  /// Takes what the operation has made of the vectors that are not left out.
  void put_back(F* const (&at)[fields], int words, int lanes, const std::int32_t* left_out) const {
    site::unroll<fields>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
      if constexpr (Operation::uses[i] != blas::Use::in)
        for (int w = 0; w < words; ++w)
          if (left_out[w % lanes] == 0) at[i][w] = copy_[i][w];
    });
  }
  F* copies[fields];

 private:
  alignas(64) F copy_[fields][most_words];
};

/// vector_range() with vectors in lanes.
template <class F, int VL, class Operation>
void group_range(const staggered::VectorArguments<F>& arguments, const staggered::VectorNumbers<F>& numbers, std::int64_t begin,
                 std::int64_t end, runtime::BinnedSum* sums) {
  using V = Pack<Real<F>, VL>;
  constexpr int fields = blas::field_count<Operation>;
  constexpr int coefficients = Operation::coefficients > 0 ? Operation::coefficients : 1;
  constexpr int sum_count = Operation::sums > 0 ? Operation::sums : 1;
  const staggered::VectorArguments<F> a = arguments;
  const int vectors = a.vectors * a.lanes, words = staggered::vector_words<F> * a.lanes;
  std::vector<SumOfEachLane<VL>> totals;
  for (int v = 0; v < Operation::sums * vectors; v += VL) totals.emplace_back(a.left_out != nullptr ? a.left_out + v % vectors : nullptr);
  std::vector<std::int64_t> wanted(static_cast<std::size_t>(a.vectors), a.lanes);  // vectors of each group
  if (a.left_out != nullptr)
    for (std::size_t g = 0; g < wanted.size(); ++g) wanted[g] = std::count(a.left_out + g * a.lanes, a.left_out + (g + 1) * a.lanes, 0);
  for (std::int64_t outer = begin; outer < end; ++outer)
    for (int group = 0; group < a.vectors; ++group) {
      const std::int64_t count = wanted[static_cast<std::size_t>(group)];
      if (count == 0) continue;
      F* at[fields];
      for (int i = 0; i < fields; ++i) at[i] = a.fields[i] + (outer * a.vectors_of[i] + group) * words;
      const auto apply = [&](F* const(&of_group)[fields]) QUARKSTAR_INLINE_LAMBDA {
        for (int lane = 0; lane < a.lanes; lane += VL) {
          const int v = group * a.lanes + lane;
          site::Complex<V> c[coefficients];
          for (int k = 0; k < Operation::coefficients; ++k) c[k] = {V::load(numbers[k] + v), V::broadcast(0)};
          V sum[sum_count];
          for (V& s : sum) s = V::broadcast(0);
          blas::apply_to_site<Operation, staggered::ColourField::reals / 2>(of_group, static_cast<std::size_t>(lane), a.lanes, c, sum);
          for (int s = 0; s < Operation::sums; ++s) totals[static_cast<std::size_t>((s * vectors + v) / VL)].add(sum[s]);
        }
      };
      if (count == a.lanes) {
        apply(at);
      } else {
        const MixedGroup<F, Operation> mixed(at, words);
        apply(mixed.copies);
        mixed.put_back(at, words, a.lanes, a.left_out + group * a.lanes);
      }
    }
  for (SumOfEachLane<VL>& total : totals) {
    total.merge_into(sums);
    sums += VL;
  }
}

}  // namespace

template <class F, class Operation>
staggered::VectorKernel<F> vector_kernel(int lanes) {
  return with_native_width<Real<F>>(lanes, [](auto width) { return vector_range<F, width(), Operation>; });
}
template <class F, class Operation>
staggered::VectorKernel<F> group_kernel(int vectors_in_lanes) {
  return with_native_width<Real<F>>(vectors_in_lanes, [](auto width) { return group_range<F, width(), Operation>; });
}

#define QUARKSTAR_VECTOR_OPERATION(operation)                                     \
  template staggered::VectorKernel<Half> vector_kernel<Half, operation>(int);     \
  template staggered::VectorKernel<float> vector_kernel<float, operation>(int);   \
  template staggered::VectorKernel<double> vector_kernel<double, operation>(int); \
  template staggered::VectorKernel<Half> group_kernel<Half, operation>(int);      \
  template staggered::VectorKernel<float> group_kernel<float, operation>(int);    \
  template staggered::VectorKernel<double> group_kernel<double, operation>(int);
QUARKSTAR_FOR_VECTOR_OPERATIONS(QUARKSTAR_VECTOR_OPERATION)

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
