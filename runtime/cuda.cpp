#include "runtime/cuda.hpp"

#ifdef QUARKSTAR_CUDA
#include <cuda_runtime_api.h>
#include <starpu.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#endif

namespace quarkstar::runtime {

#ifdef QUARKSTAR_CUDA
namespace {

constexpr int slots = 8;

[[noreturn]] void fail(const char* what, cudaError_t error) {
  std::fprintf(stderr, "quarkstar: error: CUDA: %s: %s\n", what, cudaGetErrorString(error));
  std::abort();
}

}  // namespace

std::vector<GpuDescription> gpus() {
  std::vector<GpuDescription> found;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();
    return found;
  }
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    char bus[32] = {};
    cudaDeviceGetPCIBusId(bus, sizeof bus, device);
    found.push_back({properties.name, bus, properties.totalGlobalMem, properties.multiProcessorCount,
                     properties.major * 10 + properties.minor});
  }
  return found;
}

void* worker_memory(int slot, std::size_t bytes) {
  // A worker is a thread with one device; StarPU ends the thread with the session, and the device's memory goes with the process.
  static thread_local std::array<void*, slots> memory{};
  void*& pointer = memory[static_cast<std::size_t>(slot)];
  if (pointer == nullptr) {
    if (const cudaError_t error = cudaMalloc(&pointer, bytes); error != cudaSuccess) fail("allocation", error);
    if (const cudaError_t error = cudaMemset(pointer, 0, bytes); error != cudaSuccess) fail("clearing", error);
    cudaDeviceSynchronize();
  }
  return pointer;
}

void check_launch(const char* what) {
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) fail(what, error);
}
#else
std::vector<GpuDescription> gpus() { return {}; }
#endif

}  // namespace quarkstar::runtime
