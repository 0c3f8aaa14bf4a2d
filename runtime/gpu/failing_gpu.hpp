#pragma once
// A GPU that fails when it is asked to. CUDA only.
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::runtime {

/// Enqueues a kernel that traps: the driver ends it, and from then on refuses every call of this process for the current device, as after
/// an error of the machine. The device itself is as before, and other processes go on with it.
void enqueue_failure(CudaStream stream);

}  // namespace quarkstar::runtime
