#pragma once
#include "codelets/coarse/transfer_site.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Over so many groups of aggregates on a CUDA worker's stream. idle: device pointer to the flag that makes the kernel do nothing; nullptr:
/// none. of_coarse: fine vectors are coarse ones of the next level.
template <class F>
void launch_transfer(const coarse::TransferArguments<F>& arguments, coarse::TransferStep step, bool of_coarse, bool chunked,
                     std::int64_t groups, const std::int32_t* idle, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
