#include "runtime/gpu/cuda.hpp"
#include "runtime/gpu/cuda_launch.hpp"
#include "runtime/system/switch_variable.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace quarkstar::runtime {
namespace {

/// Compiled for the same architectures as all kernels; asked which of them this GPU runs.
__global__ void probe_kernel() {}

bool probe() {
  if (!switch_in(overlap_switch).value_or(true)) return false;
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, probe_kernel) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  // The virtual architecture: code for an older one has no wait in it, wherever it runs.
  return attributes.ptxVersion >= 90;
}

/// The architectures that the kernels are compiled for, 900 for sm_90.
constexpr int compiled_for[] = {__CUDA_ARCH_LIST__};

}  // namespace

int least_capability() { return *std::min_element(std::begin(compiled_for), std::end(compiled_for)) / 10; }

bool kernels_can_overlap() {
  // A worker is a thread, which may drive several GPUs.
  static thread_local std::map<int, bool> known;
  int device = 0;
  cudaGetDevice(&device);
  const auto [at, fresh] = known.try_emplace(device, false);
  if (fresh) at->second = probe();
  return at->second && !launches_one_by_one();
}

}  // namespace quarkstar::runtime
