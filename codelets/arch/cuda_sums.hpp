#pragma once
// Host side of the sums of CUDA kernels.
#include "codelets/arch/cuda_sum.hpp"
#include "runtime/cuda.hpp"

namespace quarkstar::cuda {

/// The sum tables of the current CUDA worker (device memory).
SumTable* sum_tables();

/// Enqueues: partial[s] = table s as BinnedSum for s < count; the tables are zero again afterwards. stop: device pointer to the
/// graph's stop flag or nullptr; once stopped, partials are left alone.
void finish_sums(runtime::BinnedSum* partial, int count, const std::int32_t* stop, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
