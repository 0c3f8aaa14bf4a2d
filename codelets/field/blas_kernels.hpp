#pragma once
// The contract between the vector-operation codelets and the kernels of every architecture.
#include "codelets/arch/dispatch.hpp"
#include "codelets/field/blas_site.hpp"
#include "codelets/field/coefficient.hpp"
#include "codelets/field/host_field.hpp"
#include "runtime/graph/binned_sum.hpp"

#include <cstdint>

namespace quarkstar {
namespace blas {

/// F: number format of the fields.
template <class F>
struct Arguments {
  static constexpr int most_fields = 5, most_coefficients = 3;
  F* fields[most_fields];        ///< [outer site][vector][words of all lanes]
  int vectors_of[most_fields];   ///< n or 1
  int vectors, lanes;            ///< where vectors are in lanes: groups, and the vectors of each
  const std::int32_t* left_out;  ///< nullptr, or for each vector non-zero where it must stay as it is
};

/// Resolved coefficients: [coefficient][vector].
template <class F>
struct Numbers {
  Real<F> re[Arguments<F>::most_coefficients][most_vectors], im[Arguments<F>::most_coefficients][most_vectors];
};

/// Applies Operation to vector v at one site; fields of a single vector serve for all v.
template <class Operation, int Components, class Words = WordsInRows, class F, class V, int Coefficients>
QUARKSTAR_HD void apply_to_vector(const Arguments<F>& a, std::size_t outer, int v, int lane, const site::Complex<V> (&c)[Coefficients],
                                  V* sum) {
  F* fields[Arguments<F>::most_fields];
  for (int i = 0; i < field_count<Operation>; ++i) {
    const auto n = static_cast<std::size_t>(a.vectors_of[i]);
    fields[i] = a.fields[i] + (outer * n + (n > 1 ? static_cast<std::size_t>(v) : 0)) *
                                  static_cast<std::size_t>(NumberFormat<F>::site_words(2 * Components) * a.lanes);
  }
  apply_to_site<Operation, Components, Words>(fields, static_cast<std::size_t>(lane), a.lanes, c, sum);
}

/// Over outer sites [begin, end); merges the operation's sums, sum s of vector v at s n + v. left_out, numbers and sums are those of each
/// vector, also where vectors are in lanes.
template <class F>
using Kernel = void (*)(const Arguments<F>& arguments, const Numbers<F>& numbers, std::int64_t begin, std::int64_t end,
                        runtime::BinnedSum* sums);

}  // namespace blas

#define QUARKSTAR_DECLARE_BLAS(architecture)                  \
  namespace architecture {                                    \
  template <class F, int Components, class Operation>         \
  blas::Kernel<F> blas_kernel(int lanes);                     \
  template <class F, class Operation>                         \
  blas::Kernel<F> blas_kernel_in_lanes(int vectors_in_lanes); \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_BLAS)
#undef QUARKSTAR_DECLARE_BLAS

}  // namespace quarkstar
