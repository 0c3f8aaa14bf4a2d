#pragma once
// The contract between the codelets of operations on colour vectors and the kernels of every architecture.
#include "codelets/actions/staggered/dslash_arguments.hpp"
#include "codelets/actions/staggered/vector_coefficient.hpp"
#include "codelets/actions/staggered/vector_operations.hpp"
#include "codelets/arch/dispatch.hpp"
#include "codelets/field/blas_site.hpp"

namespace quarkstar {
namespace staggered {

template <class F>
struct VectorArguments {
  static constexpr int most_fields = 3, most_coefficients = 3;
  F* fields[most_fields];        ///< [outer site][vector][word][lane]
  int vectors_of[most_fields];   ///< n or 1
  int vectors, lanes;            ///< of a kernel for vectors in lanes: groups, and the vectors of each
  const std::int32_t* left_out;  ///< nullptr, or for each vector non-zero where it must stay as it is
};

/// Resolved coefficients: [coefficient][vector].
template <class F>
using VectorNumbers = Real<F>[VectorArguments<F>::most_coefficients][most_vectors];

/// Applies Operation to vector v at one site; fields of a single vector serve for all v.
template <class Operation, class F, class V, int Coefficients>
QUARKSTAR_HD void apply_to_vector(const VectorArguments<F>& a, std::size_t outer, int v, int lane,
                                  const site::Complex<V> (&c)[Coefficients], V* sum) {
  F* fields[VectorArguments<F>::most_fields];
  for (int i = 0; i < blas::field_count<Operation>; ++i) {
    const auto n = static_cast<std::size_t>(a.vectors_of[i]);
    fields[i] = a.fields[i] + (outer * n + (n > 1 ? static_cast<std::size_t>(v) : 0)) * static_cast<std::size_t>(vector_words<F> * a.lanes);
  }
  blas::apply_to_site<Operation, ColourField::reals / 2>(fields, static_cast<std::size_t>(lane), a.lanes, c, sum);
}

/// Over outer sites [begin, end); merges the operation's sums, sum s of vector v at s n + v. left_out, numbers and sums are those of each
/// vector, also where vectors are in lanes.
template <class F>
using VectorKernel = void (*)(const VectorArguments<F>& arguments, const VectorNumbers<F>& numbers, std::int64_t begin, std::int64_t end,
                              runtime::BinnedSum* sums);

}  // namespace staggered

#define QUARKSTAR_DECLARE_VECTOR_BLAS(architecture)              \
  namespace architecture {                                       \
  template <class F, class Operation>                            \
  staggered::VectorKernel<F> vector_kernel(int lanes);           \
  template <class F, class Operation>                            \
  staggered::VectorKernel<F> group_kernel(int vectors_in_lanes); \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_VECTOR_BLAS)
#undef QUARKSTAR_DECLARE_VECTOR_BLAS

}  // namespace quarkstar
