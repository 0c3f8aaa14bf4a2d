#pragma once
#include "codelets/actions/staggered/vector_blas_kernels.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Runs one operation of vector_operations.hpp over `outer_sites` on a CUDA worker's stream; arguments.left_out is taken from status.
/// Sums go to sum_tables().
template <class F, class Operation>
void launch_vector_blas(const staggered::VectorArguments<F>& arguments, const staggered::VectorCoefficient* coefficients,
                        const staggered::VectorStatus* status, staggered::Obedience obedience, std::int64_t outer_sites,
                        runtime::CudaStream stream);

}  // namespace quarkstar::cuda
