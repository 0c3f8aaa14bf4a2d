#include "runtime/gpu/gpu_lanes.hpp"

#if defined(QUARKSTAR_CUDA) || defined(QUARKSTAR_SIMULATION)
#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/current_device.hpp"
#include "runtime/gpu/end_of_session.hpp"

#include <cuda_runtime_api.h>
#endif

#include "runtime/simulate/simulate.hpp"

namespace quarkstar::runtime {

bool devices_reach_each_other([[maybe_unused]] int a, [[maybe_unused]] int b) {
#ifdef QUARKSTAR_SIMULATION
  return simulate::machine().reach_each_other(a, b);
#else
  int there = 0, back = 0;
  return cudaDeviceCanAccessPeer(&there, a, b) == cudaSuccess && cudaDeviceCanAccessPeer(&back, b, a) == cudaSuccess && there && back;
#endif
}

#ifdef QUARKSTAR_CUDA
namespace {

void enable_peers(int cuda_device) {
  int count = 0;
  cudaGetDeviceCount(&count);
  for (int peer = 0; peer < count; ++peer)
    if (peer != cuda_device && devices_reach_each_other(peer, cuda_device)) cudaDeviceEnablePeerAccess(peer, 0);
  (void)cudaGetLastError();  // already enabled is as good
}

}  // namespace

CudaStream GpuLanes::stream(int cuda_device, int lane_of_device, bool with_peers) {
  CudaStream& stream = streams_[{cuda_device, lane_of_device}];
  if (stream == nullptr) {
    cudaSetDevice(cuda_device);
    int least = 0, greatest = 0;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    // Packs and copies are short and others wait for them: they go first where both have threads to place.
    cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, lane_of_device == 0 ? least : greatest);
    if (with_peers) enable_peers(cuda_device);
    at_end_of_session([stream] { cudaStreamDestroy(stream); });
  }
  return stream;
}

cudaEvent_t GpuLanes::event(int cuda_device, std::size_t number) {
  std::vector<cudaEvent_t>& events = events_[cuda_device];
  while (events.size() <= number) {
    cudaSetDevice(cuda_device);
    cudaEventCreateWithFlags(&events.emplace_back(), cudaEventDisableTiming);
    at_end_of_session([event = events.back()] { cudaEventDestroy(event); });
  }
  return events[number];
}

void* GpuLanes::grown(Memory& memory, int cuda_device, std::size_t bytes) {
  if (memory.bytes < bytes) {
    const CurrentDevice current(cuda_device);
    cudaMalloc(&memory.pointer, bytes);
    cudaMemset(memory.pointer, 0, bytes);
    cudaDeviceSynchronize();
    memory.bytes = bytes;
    check_launch("memory for several GPUs");
    at_end_of_session([pointer = memory.pointer, cuda_device] {
      cudaSetDevice(cuda_device);
      cudaFree(pointer);
    });
  }
  return memory.pointer;
}

GpuLanes& gpu_lanes() {
  static thread_local GpuLanes lanes;
  return lanes;
}
#endif

}  // namespace quarkstar::runtime
#endif
