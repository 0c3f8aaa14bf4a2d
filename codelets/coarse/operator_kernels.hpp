#pragma once
// The contract between the coarse operator's codelet and the kernels of every architecture.
#include "codelets/arch/dispatch.hpp"
#include "codelets/coarse/operator_site.hpp"

namespace quarkstar {
namespace coarse {

/// Over sites [begin, end) of the list.
template <class M>
using OperatorKernel = void (*)(const OperatorArguments<M>&, std::int64_t begin, std::int64_t end);
/// Over groups of rows [begin, end).
template <class F>
using DenseKernel = void (*)(const DenseArguments<F>&, std::int64_t begin, std::int64_t end);
/// Over coarse sites [begin, end): A^-1, and A^-1 times the block of each direction in its place.
template <class F>
using EliminateKernel = void (*)(F* matrices, int components, std::int64_t begin, std::int64_t end);

/// Rows of a dense matrix in double precision, from which others are subtracted: row -= sum_c factor_c other_c, one c after another, each
/// product fused with its addition. A row is [re, im][column].
struct RowsArguments {
  double* rows;
  std::size_t row_words;
  const double* factors;  ///< [row][factor_words], of which [c][re, im]
  std::size_t factor_words;
  const double* others;  ///< [c][re, im][column]
  int columns, others_count;
  std::int64_t left_out, left_out_end;  ///< rows that stay as they are
};
/// columns is a multiple of this.
inline constexpr int subtracted_columns = 16;
/// Over rows [begin, end).
using SubtractKernel = void (*)(const RowsArguments&, std::int64_t begin, std::int64_t end);

}  // namespace coarse

#define QUARKSTAR_DECLARE_COARSE(architecture)          \
  namespace architecture {                              \
  template <class M>                                    \
  coarse::OperatorKernel<M> coarse_operator_kernel();   \
  template <class F>                                    \
  coarse::DenseKernel<F> coarse_dense_kernel();         \
  template <class F>                                    \
  coarse::EliminateKernel<F> coarse_eliminate_kernel(); \
  coarse::SubtractKernel coarse_subtract_kernel();      \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_COARSE)
#undef QUARKSTAR_DECLARE_COARSE

}  // namespace quarkstar
