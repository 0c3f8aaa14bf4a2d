#pragma once
#include "codelets/field/noise_site.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Writes all vectors of one parity of one block.
void launch_noise(double* field, const NoiseTask& task, runtime::CudaStream stream);
void launch_noise(float* field, const NoiseTask& task, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
