#include "codelets/arch/native_width.hpp"
#include "codelets/coarse/operator_kernels.hpp"
#include "codelets/coarse/together.hpp"

#include <algorithm>

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

template <class M, int VL>
void operator_range(const coarse::OperatorArguments<M>& arguments, std::int64_t begin, std::int64_t end) {
  using F = coarse::Computed<M>;
  const coarse::OperatorArguments<M> a = arguments;
  for (std::int64_t i = begin; i < end; ++i) {
    coarse::Sources<F> sources;
    const std::size_t site = coarse::find_sources(a, static_cast<std::uint32_t>(i), sources);
    coarse::for_vectors(a.left_out, a.vectors,
                        [&](auto count, int first) { coarse::multiply_site<count, Pack<F, VL>>(a, site, sources, first); });
  }
}

template <class F, int VL>
void dense_range(const coarse::DenseArguments<F>& arguments, std::int64_t begin, std::int64_t end) {
  const coarse::DenseArguments<F> a = arguments;
  for (std::int64_t row = begin; row < end; ++row)
    for (int lane = 0; lane < coarse::lanes_of_components; lane += VL)
      coarse::for_vectors(a.left_out, a.vectors, [&](auto count, int first) {
        coarse::multiply_dense_rows<count, Pack<F, VL>>(a, static_cast<std::size_t>(row / a.groups), static_cast<int>(row % a.groups), lane,
                                                        first);
      });
}

template <class F, int VL>
void eliminate_range(F* matrices, int components, std::int64_t begin, std::int64_t end) {
  using V = Pack<F, VL>;
  for (std::int64_t site = begin; site < end; ++site) {
    const auto m = coarse::matrices_of(matrices, static_cast<std::size_t>(site), components);
    coarse::invert_block<V, 1>(m, 0, [] {});
    for (int block = 1; block < 9; ++block)
      for (int column = 0; column < components; ++column) coarse::multiply_by_inverse<V>(m, block, column);
  }
}

/// Count rows at a time, which share what is read of the others.
template <int Count, int VL>
void subtract_from(const coarse::RowsArguments& a, std::int64_t first) {
  using V = Pack<double, VL>;
  constexpr int packs = coarse::subtracted_columns / VL < 2 ? 1 : 2;
  double* const row = a.rows + static_cast<std::size_t>(first) * a.row_words;
  const double* const factors = a.factors + static_cast<std::size_t>(first) * a.factor_words;
  for (int column = 0; column < a.columns; column += packs * VL) {
    site::Complex<V> x[Count][packs];
    site::unroll<Count>([&](auto r) {
      site::unroll<packs>([&](auto p) {
        const double* word = row + r * a.row_words + column + p * VL;
        x[r][p] = {V::load(word), V::load(word + a.columns)};
      });
    });
    const double* other = a.others + column;
    for (int c = 0; c < a.others_count; ++c, other += 2 * a.columns) {
      site::Complex<V> y[packs];
      site::unroll<packs>([&](auto p) { y[p] = {V::load(other + p * VL), V::load(other + a.columns + p * VL)}; });
      site::unroll<Count>([&](auto r) {
        const double* factor = factors + r * a.factor_words + 2 * c;
        const site::Complex<V> minus{V::broadcast(-factor[0]), V::broadcast(-factor[1])};
        site::unroll<packs>([&](auto p) { x[r][p] = site::multiply_add(minus, y[p], x[r][p]); });
      });
    }
    site::unroll<Count>([&](auto r) {
      site::unroll<packs>([&](auto p) {
        double* word = row + r * a.row_words + column + p * VL;
        x[r][p].re.store(word);
        x[r][p].im.store(word + a.columns);
      });
    });
  }
}

template <int VL>
void subtract_range(const coarse::RowsArguments& arguments, std::int64_t begin, std::int64_t end) {
  const coarse::RowsArguments a = arguments;
  const auto over = [&](std::int64_t row, std::int64_t last) {
    for (; row + 1 < last; row += 2) subtract_from<2, VL>(a, row);
    if (row < last) subtract_from<1, VL>(a, row);
  };
  over(begin, std::min(end, a.left_out));
  over(std::max(begin, a.left_out_end), end);
}

}  // namespace

template <class M>
coarse::OperatorKernel<M> coarse_operator_kernel() {
  return with_native_width<coarse::Computed<M>>(coarse::lanes_of_components,
                                                [](auto width) -> coarse::OperatorKernel<M> { return operator_range<M, width()>; });
}

template <class F>
coarse::DenseKernel<F> coarse_dense_kernel() {
  return with_native_width<F>(coarse::lanes_of_components, [](auto width) -> coarse::DenseKernel<F> { return dense_range<F, width()>; });
}

template <class F>
coarse::EliminateKernel<F> coarse_eliminate_kernel() {
  return with_native_width<F>(coarse::lanes_of_components,
                              [](auto width) -> coarse::EliminateKernel<F> { return eliminate_range<F, width()>; });
}

coarse::SubtractKernel coarse_subtract_kernel() {
  return with_native_width<double>(coarse::subtracted_columns,
                                   [](auto width) -> coarse::SubtractKernel { return subtract_range<width()>; });
}

template coarse::OperatorKernel<coarse::Binary16> coarse_operator_kernel<coarse::Binary16>();
template coarse::OperatorKernel<float> coarse_operator_kernel<float>();
template coarse::OperatorKernel<double> coarse_operator_kernel<double>();
template coarse::DenseKernel<float> coarse_dense_kernel<float>();
template coarse::DenseKernel<double> coarse_dense_kernel<double>();
template coarse::EliminateKernel<float> coarse_eliminate_kernel<float>();
template coarse::EliminateKernel<double> coarse_eliminate_kernel<double>();

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
