#pragma once
#include "codelets/coarse/operator_site.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

// On a CUDA worker's stream. idle: device pointer to the flag that makes the kernel do nothing; nullptr: none.

/// Over all sites of the list.
template <class M>
void launch_coarse_operator(const coarse::OperatorArguments<M>& arguments, const std::int32_t* idle, runtime::CudaStream stream);
template <class F>
void launch_coarse_dense(const coarse::DenseArguments<F>& arguments, const std::int32_t* idle, runtime::CudaStream stream);
/// Over so many coarse sites.
template <class F>
void launch_set_columns(const coarse::ColumnArguments<F>& arguments, std::int64_t sites, runtime::CudaStream stream);
/// Over all sites of the list.
template <class F>
void launch_set_adjoint(const coarse::AdjointArguments<F>& arguments, runtime::CudaStream stream);
/// EliminateKernel over so many coarse sites.
template <class F>
void launch_coarse_eliminate(F* matrices, int components, std::int64_t sites, runtime::CudaStream stream);
template <class F>
void launch_coarse_pack(const coarse::PackArguments<F>& arguments, const std::int32_t* idle, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
