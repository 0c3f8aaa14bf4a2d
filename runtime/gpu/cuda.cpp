#include "runtime/gpu/cuda.hpp"

#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/cuda_failure.hpp"
#include "runtime/gpu/end_of_session.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <thread>
#else
#include "runtime/simulate/simulate.hpp"
#endif

namespace quarkstar::runtime {

#ifdef QUARKSTAR_CUDA
namespace {

constexpr int slots = 8;
thread_local int memory_lane = 0;
thread_local bool one_by_one = false;
thread_local std::array<std::size_t, slots> slot_bytes{};  ///< of the slots that this worker has taken

}  // namespace

std::vector<GpuDescription> gpus() {
  std::vector<GpuDescription> found;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();
    return found;
  }
  for (int device = 0; device < count; ++device) {
    GpuDescription& gpu = found.emplace_back();
    cudaDeviceProp properties;
    if (const cudaError_t error = cudaGetDeviceProperties(&properties, device); error != cudaSuccess) {
      (void)cudaGetLastError();
      gpu.obstacle = fmt::format("the driver tells nothing of it: {}", cudaGetErrorString(error));
      continue;
    }
    char bus_id[32] = {};
    if (cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device) != cudaSuccess) (void)cudaGetLastError();
    gpu.name = properties.name;
    gpu.memory_bytes = properties.totalGlobalMem;
    gpu.pci_bus_id = bus_id;
    const int least = least_capability();
    if (properties.major * 10 + properties.minor < least)
      gpu.obstacle = fmt::format("{} has compute capability {}.{}, and this build's kernels need {}.{}", gpu.name, properties.major,
                                 properties.minor, least / 10, least % 10);
  }
  return found;
}

std::optional<std::size_t> free_gpu_memory(int number) {
  std::size_t free = 0, whole = 0;
  cudaError_t error = cudaSuccess;
  // The current device is a thread's own. To choose the one before again would make a context on that too.
  std::thread([&] {
    error = cudaSetDevice(number);
    if (error == cudaSuccess) error = cudaMemGetInfo(&free, &whole);
  }).join();
  if (error != cudaSuccess) return {};
  return free;
}

std::string obstacle_to_gpus() {
  int count = 0, driver = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  (void)cudaGetLastError();
  // No device: there is none, or CUDA_VISIBLE_DEVICES hides them all. Version 0: there is no driver.
  if (error == cudaSuccess || error == cudaErrorNoDevice) return {};
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) return {};
  return fmt::format("{} (driver for CUDA {}.{})", cudaGetErrorString(error), driver / 1000, driver % 1000 / 10);
}

void* worker_memory(int slot, std::size_t bytes) {
  // A worker is a thread, which StarPU ends with the session.
  static thread_local std::map<std::pair<int, int>, std::array<void*, slots>> memory;
  slot_bytes[static_cast<std::size_t>(slot)] = bytes;
  int device = 0;
  cudaGetDevice(&device);
  void*& pointer = memory[{device, memory_lane}][static_cast<std::size_t>(slot)];
  if (pointer == nullptr) {
    if (const cudaError_t error = cudaMalloc(&pointer, bytes); error != cudaSuccess) fail_on_gpu("allocation", error);
    // On a stream of its own: waiting for the device would be forbidden while another one is captured.
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (const cudaError_t error = cudaMemsetAsync(pointer, 0, bytes, stream); error != cudaSuccess) fail_on_gpu("clearing", error);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    at_end_of_session([device, pointer] {
      cudaSetDevice(device);
      cudaFree(pointer);
    });
  }
  return pointer;
}

void prepare_worker_memory(int lanes) {
  const int before = memory_lane;
  for (memory_lane = 0; memory_lane < lanes; ++memory_lane)
    for (int slot = 0; slot < slots; ++slot)
      if (slot_bytes[static_cast<std::size_t>(slot)] > 0) worker_memory(slot, slot_bytes[static_cast<std::size_t>(slot)]);
  memory_lane = before;
}

void use_worker_memory_of_lane(int lane) { memory_lane = lane; }

void launch_one_by_one(bool only) { one_by_one = only; }
bool launches_one_by_one() { return one_by_one; }

std::vector<double> time_parts(CudaStream stream, std::size_t count, const std::function<void(std::size_t)>& enqueue) {
  std::vector<cudaEvent_t> marks(count + 1);
  for (cudaEvent_t& mark : marks)
    if (const cudaError_t error = cudaEventCreate(&mark); error != cudaSuccess) fail_on_gpu("timing", error);
  cudaEventRecord(marks[0], stream);
  for (std::size_t i = 0; i < count; ++i) {
    enqueue(i);
    cudaEventRecord(marks[i + 1], stream);
  }
  if (const cudaError_t error = cudaEventSynchronize(marks.back()); error != cudaSuccess) fail_on_gpu("timing", error);
  std::vector<double> microseconds(count);
  for (std::size_t i = 0; i < count; ++i) {
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, marks[i], marks[i + 1]);
    microseconds[i] = 1e3 * static_cast<double>(milliseconds);
  }
  for (const cudaEvent_t mark : marks) cudaEventDestroy(mark);
  return microseconds;
}

void check_launch(const char* what) {
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) fail_on_gpu(what, error);
}
#else
std::vector<GpuDescription> gpus() {
  if constexpr (simulate::active) return simulate::gpus();
  return {};
}
std::optional<std::size_t> free_gpu_memory(int) { return {}; }
std::string obstacle_to_gpus() { return {}; }
#endif

}  // namespace quarkstar::runtime
