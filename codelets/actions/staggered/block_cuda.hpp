#pragma once
#include "codelets/actions/staggered/block_kernels.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Over `outer_sites` outer sites on a CUDA worker's stream. stop: device pointer to the graph's stop flag. Sums go to sum_tables().
template <class F>
void launch_block_multiply(const staggered::BlockMultiplyArguments<F>& arguments, std::int64_t outer_sites, const std::int32_t* stop,
                           runtime::CudaStream stream);
template <class F>
void launch_block_gram(const staggered::BlockGramArguments<F>& arguments, std::int64_t outer_sites, const std::int32_t* stop,
                       runtime::CudaStream stream);

}  // namespace quarkstar::cuda
