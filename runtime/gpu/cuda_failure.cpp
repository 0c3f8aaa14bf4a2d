#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/cuda_failure.hpp"

#include "runtime/gpu/cuda.hpp"
#include "runtime/graph/device_loss.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <starpu.h>
#include <starpu_cuda.h>

#include <exception>
#include <optional>

namespace quarkstar::runtime {

std::string cuda_remedy(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "give fields less with --gpu-memory, solve fewer right-hand sides together, or look with nvidia-smi for "
             "other programs that hold memory";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
      return fmt::format(
          "the kernels were compiled for other GPUs, the oldest of capability {}.{}: build for this one with "
          "./bootstrap build --cuda-architectures LIST, or leave that GPU out of the devices",
          least_capability() / 10, least_capability() % 10);
    case cudaErrorInsufficientDriver:
      return "the driver is older than the CUDA that this was built with: update it, or use CPUs alone (devices cpu)";
    case cudaErrorInvalidConfiguration:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorInvalidValue:
      return "this is a defect: please report it with the command line";
    case cudaErrorLaunchFailure:
    case cudaErrorIllegalInstruction:
    case cudaErrorLaunchTimeout:
      return "a kernel was ended, perhaps for waiting too long for another GPU: try QUARKSTAR_GPU_FLAGS=off, with "
             "several "
             "ranks QUARKSTAR_GPU_IPC=off, and look for Xid lines in the kernel's log (dmesg)";
    default:
      return "look for Xid lines in the kernel's log (dmesg) and at nvidia-smi, and leave a damaged GPU out of the "
             "devices; if the GPU is well, please report this with the command line";
  }
}

namespace {

/// Whether the error may come of a device that fails, not of its memory being full or of a kernel that it cannot run.
bool may_be_broken(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInsufficientDriver:
      return false;
    default:
      return true;
  }
}

struct BrokenGpu {
  int worker;
  cudaError_t error;
};

/// The GPU that answers with an error, if any: a worker also works for other GPUs than its own.
std::optional<BrokenGpu> find_broken_gpu() {
  const unsigned gpus = starpu_cuda_worker_get_count();
  for (unsigned i = 0; i < gpus; ++i) {
    const int worker = starpu_worker_get_by_type(STARPU_CUDA_WORKER, static_cast<int>(i));
    if (const cudaError_t error = cudaSetDevice(starpu_worker_get_devid(worker)); error != cudaSuccess) return BrokenGpu{worker, error};
    if (const cudaError_t state = cudaStreamQuery(nullptr); state != cudaSuccess && state != cudaErrorNotReady)
      return BrokenGpu{worker, state};
  }
  return std::nullopt;
}

/// The calling thread's worker if that is a GPU's, else -1.
int own_gpu_worker() {
  const int own = starpu_worker_get_id();
  return own >= 0 && starpu_worker_get_type(own) == STARPU_CUDA_WORKER ? own : -1;
}

std::string text_of(const char* what, cudaError_t error) {
  return fmt::format("CUDA: {}: {}; {}", what, cudaGetErrorString(error), cuda_remedy(error));
}

}  // namespace

void fail_on_gpu(const char* what, cudaError_t error) {
  mpi::Job& job = mpi::Job::current();
  constexpr int code = static_cast<int>(ErrorKind::environment);
  try {
    const std::string why = text_of(what, error);
    if (may_be_broken(error)) {
      const std::optional<BrokenGpu> broken = find_broken_gpu();
      DeviceLoss::tell(broken ? broken->worker : own_gpu_worker(), why);
    }
    job.fail_alone(why, code);
  } catch (const std::exception&) {  // no memory for a text
    job.abort(code);
  }
}

void tell_of_broken_gpu() {
  if (own_gpu_worker() < 0) return;
  const std::optional<BrokenGpu> broken = find_broken_gpu();  // first, without memory: that of the host may be why a thread aborts
  if (!broken || !may_be_broken(broken->error)) return;
  try {
    DeviceLoss::tell(broken->worker, text_of("a task", broken->error));
  } catch (const std::exception&) {  // no memory for a text: the abort goes on
  }
}

void fail_as_defect(const char* what) {
  mpi::Job::current().fail_alone(std::string(what) + "; this is a defect: please report it with the command line",
                                 static_cast<int>(ErrorKind::internal));
}

}  // namespace quarkstar::runtime

/// In place of StarPU's own, which ends the process without a word to anybody: for what its driver calls itself.
extern "C" __attribute__((visibility("default"))) void starpu_cuda_report_error(const char* function, const char*, int, cudaError_t error) {
  quarkstar::runtime::fail_on_gpu(function, error);
}
#endif
