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

/// Where the calling thread is a GPU's worker and a GPU answers with an error of the machine, tells DeviceLoss of it; else nothing. For a
/// thread that aborts: StarPU's driver does where an event of a task on a failed GPU is not merely unready.
void tell_of_broken_gpu();

}  // namespace quarkstar::runtime
#endif
