#pragma once
// The contract between the vector-operation codelets and the kernels of every architecture.
#include <cstdint>

#include "codelets/blas/operations.hpp"
#include "runtime/binned_sum.hpp"
#include "runtime/graph_status.hpp"

namespace quarkstar {

namespace blas {

template <class T>
struct Arguments {
  static constexpr int most_fields = 5, most_coefficients = 3;
  T* fields[most_fields];  ///< [outer site][component][re, im][lane]
  T re[most_coefficients], im[most_coefficients];
  int lanes;
  int components;  ///< complex numbers of a site
};

/// Over outer sites [begin, end); merges the operation's sums.
template <class T>
using Kernel = void (*)(const Arguments<T>& arguments, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums);

}  // namespace blas

#define QUARKSTAR_DECLARE_BLAS(architecture) \
  namespace architecture {                   \
  template <class T, class Operation>        \
  blas::Kernel<T> blas_kernel(int lanes);    \
  }
QUARKSTAR_DECLARE_BLAS(scalar)
QUARKSTAR_DECLARE_BLAS(avx2)
QUARKSTAR_DECLARE_BLAS(avx512)
#undef QUARKSTAR_DECLARE_BLAS

}  // namespace quarkstar
