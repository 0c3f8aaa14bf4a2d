#pragma once
#include "codelets/actions/clover/clover_kernels.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Enqueues the clover term of every site of a block; the arguments' pointers are to device memory.
void launch_clover_term(const clover::TermArguments& arguments, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
