#pragma once
// The contract between the vector-operation codelets and the kernels of every architecture.
#include "codelets/arch/dispatch.hpp"
#include "codelets/field/number_format.hpp"
#include "codelets/field/operations.hpp"
#include "runtime/graph/binned_sum.hpp"
#include "runtime/graph/graph_status.hpp"

#include <cstdint>

namespace quarkstar {

namespace blas {

/// F: number format of the fields.
template <class F>
struct Arguments {
  static constexpr int most_fields = 5, most_coefficients = 3;
  F* fields[most_fields];  ///< [outer site][word][lane]
  Real<F> re[most_coefficients], im[most_coefficients];
  int lanes;
};

/// Over outer sites [begin, end); merges the operation's sums.
template <class F>
using Kernel = void (*)(const Arguments<F>& arguments, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums);

}  // namespace blas

#define QUARKSTAR_DECLARE_BLAS(architecture) \
  namespace architecture {                   \
  template <class F, class Operation>        \
  blas::Kernel<F> blas_kernel(int lanes);    \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_BLAS)
#undef QUARKSTAR_DECLARE_BLAS

}  // namespace quarkstar
