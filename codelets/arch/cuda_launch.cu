#include <cuda_runtime.h>

#include <cstdlib>
#include <string_view>

#include "codelets/arch/cuda_launch.hpp"

namespace quarkstar::cuda {
namespace {

/// Compiled for the same architectures as all kernels; asked which of them this GPU runs.
__global__ void probe_kernel() {}

bool probe() {
  const char* wish = std::getenv("QUARKSTAR_OVERLAP");
  if (wish != nullptr && std::string_view(wish) == "off") return false;
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, probe_kernel) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  // The virtual architecture: code for an older one has no wait in it, wherever it runs.
  return attributes.ptxVersion >= 90;
}

}  // namespace

bool kernels_can_overlap() {
  static thread_local const bool can = probe();  // a worker is a thread with one GPU
  return can;
}

}  // namespace quarkstar::cuda
