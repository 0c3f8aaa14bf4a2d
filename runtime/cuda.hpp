#pragma once
// What the CUDA parts share on the host: the stream type, error checks, devices, and memory that a worker keeps.
#include <cstddef>
#include <string>
#include <vector>

struct CUstream_st;

namespace quarkstar::runtime {

using CudaStream = CUstream_st*;

struct GpuDescription {
  std::string name, bus;  ///< bus: PCI address, the same for every process of the host
  std::size_t memory_bytes = 0;
  int multiprocessors = 0, capability = 0;  ///< capability 90 for sm_90
};

/// GPUs that the driver shows; empty without a driver or in a build without CUDA.
std::vector<GpuDescription> gpus();

/// Zeroed device memory of the current CUDA worker, made once and kept until the session ends. Slot: which piece (0..7).
void* worker_memory(int slot, std::size_t bytes);

/// Throws nothing: a failed launch ends the program with the codelet's name, because no exception may cross the runtime.
void check_launch(const char* what);

}  // namespace quarkstar::runtime
