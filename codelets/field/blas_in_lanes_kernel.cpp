// Vector operations on colour vectors that lie in lanes.
#include "codelets/field/blas_cpu.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

template <class F>
inline constexpr int words_of_vector = NumberFormat<F>::site_words(2 * colour_components);

/// A group of vectors at one site, of which some stay as they are.
template <class F, class Operation>
class MixedGroup {
  static constexpr int fields = blas::field_count<Operation>, most_words = words_of_vector<F> * 16;

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

/// Over sites whose lanes hold vectors.
template <class F, int VL, class Operation>
void group_range(const blas::Arguments<F>& arguments, const blas::Numbers<F>& numbers, std::int64_t begin, std::int64_t end,
                 runtime::BinnedSum* sums) {
  using V = Pack<Real<F>, VL>;
  constexpr int fields = blas::field_count<Operation>;
  const blas::Arguments<F> a = arguments;
  const int vectors = a.vectors * a.lanes, words = words_of_vector<F> * a.lanes;
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
          site::Complex<V> c[at_least_one(Operation::coefficients)];
          for (int k = 0; k < Operation::coefficients; ++k) c[k] = {V::load(numbers.re[k] + v), V::load(numbers.im[k] + v)};
          V sum[at_least_one(Operation::sums)];
          for (V& s : sum) s = V::broadcast(0);
          blas::apply_to_site<Operation, colour_components>(of_group, static_cast<std::size_t>(lane), a.lanes, c, sum);
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
blas::Kernel<F> blas_kernel_in_lanes(int vectors_in_lanes) {
  return with_native_width<Real<F>>(vectors_in_lanes, [](auto width) { return group_range<F, width(), Operation>; });
}

#define QUARKSTAR_BLAS_OPERATION(operation)                                       \
  template blas::Kernel<Half> blas_kernel_in_lanes<Half, blas::operation>(int);   \
  template blas::Kernel<float> blas_kernel_in_lanes<float, blas::operation>(int); \
  template blas::Kernel<double> blas_kernel_in_lanes<double, blas::operation>(int);
QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_BLAS_OPERATION)

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
