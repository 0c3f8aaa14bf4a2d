#pragma once
#include "codelets/field/projection_kernels.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Over `outer_sites` outer sites on a CUDA worker's stream. Chunked: Field::chunked(). sums: in device memory, written whole.
template <int Components, bool Chunked>
void launch_rounded_products(const blas::RoundedProductsArguments& arguments, std::int64_t outer_sites, runtime::BinnedSum* sums,
                             runtime::CudaStream stream);
template <int Components, bool Chunked>
void launch_combine(const blas::CombineArguments& arguments, std::int64_t outer_sites, runtime::CudaStream stream);

/// scales[v] of n vectors, from partials of 2 n sums.
void launch_scales(double* scales, const blas::PartialsOfTask& partials, int n, runtime::CudaStream stream);
void launch_coefficients(const blas::CoefficientsArguments& arguments, const blas::PartialsOfTask& partials, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
