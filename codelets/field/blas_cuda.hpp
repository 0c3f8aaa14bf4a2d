#pragma once
#include "codelets/field/blas_kernels.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Runs one operation of operations.hpp over `outer_sites` on a CUDA worker's stream; sums go to sum_tables().
template <class F, class Operation>
void launch_blas(const blas::Arguments<F>& arguments, const runtime::Coefficient* coefficients, const runtime::GraphStatus* state,
                 runtime::When when, std::int64_t outer_sites, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
