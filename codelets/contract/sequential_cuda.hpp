#pragma once
#include "codelets/contract/sequential_site.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// contract::write_sequential_site() for a block, in device memory.
void launch_sequential(double* to, const double* from, const double* phases, const contract::SequentialTask& task,
                       runtime::CudaStream stream);

}  // namespace quarkstar::cuda
