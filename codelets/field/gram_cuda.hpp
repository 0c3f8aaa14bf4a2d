#pragma once
#include "codelets/field/gram_kernels.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Over `outer_sites` outer sites on a CUDA worker's stream. Chunked: Field::chunked(). stop: device pointer to the graph's stop flag.
/// Sums go to sum_tables().
template <int Components, bool Chunked, class F>
void launch_multiply(const blas::MultiplyArguments<F>& arguments, std::int64_t outer_sites, const std::int32_t* stop,
                     runtime::CudaStream stream);
template <int Components, bool Chunked, class F>
void launch_gram(const blas::GramArguments<F>& arguments, std::int64_t outer_sites, const std::int32_t* stop, runtime::CudaStream stream);
template <int Components, bool Chunked, class F>
void launch_products(const blas::ProductsArguments<F>& arguments, std::int64_t outer_sites, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
