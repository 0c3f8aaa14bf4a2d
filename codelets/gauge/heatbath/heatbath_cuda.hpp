#pragma once
// Launches of the heatbath's kernels on a CUDA worker's stream.
#include "codelets/gauge/heatbath/heatbath_arguments.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Updates the links in device memory, without the arguments' border copies. Update: HeatbathUpdate or OverrelaxationUpdate.
template <class Update>
void launch_link_update(const heatbath::UpdateArguments& arguments, double* links, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
