#pragma once
// Launches of the link construction kernels on a CUDA worker's stream.
#include "codelets/smear/box_copy.hpp"
#include "codelets/smear/smear_kernels.hpp"
#include "runtime/cuda.hpp"

namespace quarkstar::cuda {

void launch_smear(const smear::SmearArguments& arguments, runtime::CudaStream stream);
void launch_unitarize(double* links, const smear::PaddedShape& shape, runtime::CudaStream stream);
void launch_copy(double* to, const double* from, const smear::BoxCopy& box, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
