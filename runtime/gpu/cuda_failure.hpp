#pragma once
// What is said of a CUDA call that failed. CUDA only.
#ifdef QUARKSTAR_CUDA
#include <driver_types.h>

#include <string>

namespace quarkstar::runtime {

/// What to do about an error of the driver.
std::string cuda_remedy(cudaError_t error);

/// Ends the job with exit code 3 and one line that names rank, what was done, the error and the remedy. For any thread:
/// no exception may cross the task runtime.
[[noreturn]] void fail_on_gpu(const char* what, cudaError_t error);

}  // namespace quarkstar::runtime
#endif
