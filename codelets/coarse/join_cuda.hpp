#pragma once
#include "codelets/coarse/join_site.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// On a CUDA worker's stream. idle: device pointer to the flag that makes the kernel do nothing; nullptr: none.
template <class F>
void launch_coarse_join(const coarse::JoinArguments<F>& arguments, const std::int32_t* idle, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
