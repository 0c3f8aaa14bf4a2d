#pragma once
#include "codelets/field/blas_kernels.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Runs one operation of operations.hpp over `outer_sites` on a CUDA worker's stream; arguments.left_out is taken from status. Chunked:
/// Field::chunked(). in_lanes: what the lanes hold: so many vectors, 1: the slices of one, 0: sites. Sums go to sum_tables().
template <class F, int Components, bool Chunked, class Operation>
void launch_blas(const blas::Arguments<F>& arguments, int in_lanes, const blas::Coefficient* coefficients, const VectorStatus* status,
                 Obedience obedience, std::int64_t outer_sites, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
