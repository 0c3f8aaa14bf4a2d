#pragma once
// What programs of several lanes on GPUs keep from one run to the next.
#include "runtime/gpu/cuda.hpp"
#include "runtime/gpu/gpu_flags.hpp"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

struct CUevent_st;

namespace quarkstar::runtime {

/// Whether two GPUs can write into each other's memory; of the simulated machine in simulations.
bool devices_reach_each_other(int a, int b);

#ifdef QUARKSTAR_CUDA
/// Streams, events and memory, kept by the worker that runs such programs. They go with the session, like worker_memory().
class GpuLanes {
 public:
  /// with_peers: for programs over several devices of this process; the others are left alone otherwise.
  CudaStream stream(int cuda_device, int lane_of_device, bool with_peers);
  /// The number-th event of a device, without timing, made when it is first asked for; a program numbers its own from
  /// 0.
  CUevent_st* event(int cuda_device, std::size_t number);
  /// Device memory for the number-th copied buffer. A larger one replaces it; the old one stays, because graphs may use it.
  void* copy(int cuda_device, std::size_t number, std::size_t bytes) { return grown(copies_[{cuda_device, number}], cuda_device, bytes); }
  /// Zeroed flags, words of exchanges in a device's memory, and the number of its runs.
  /// Of each set of devices apart, because devices must count the same runs and the same exchanges.
  GpuFlag* flags(const std::vector<int>& devices, int cuda_device, std::size_t count) {
    return static_cast<GpuFlag*>(grown(flags_[{devices, cuda_device}], cuda_device, count * sizeof(GpuFlag)));
  }
  GpuFlag* exchange_words(const std::vector<int>& devices, int cuda_device, std::size_t count) {
    return static_cast<GpuFlag*>(grown(exchange_words_[{devices, cuda_device}], cuda_device, count * sizeof(GpuFlag)));
  }
  GpuFlag* epoch(const std::vector<int>& devices, int cuda_device) {
    return static_cast<GpuFlag*>(grown(epochs_[{devices, cuda_device}], cuda_device, sizeof(GpuFlag)));
  }

 private:
  struct Memory {
    void* pointer = nullptr;
    std::size_t bytes = 0;
  };

  /// Zeroed; what was in a smaller piece is forgotten.
  static void* grown(Memory& memory, int cuda_device, std::size_t bytes);

  std::map<std::pair<int, int>, CudaStream> streams_;
  std::map<int, std::vector<CUevent_st*>> events_;
  std::map<std::pair<int, std::size_t>, Memory> copies_;
  std::map<std::pair<std::vector<int>, int>, Memory> flags_, exchange_words_, epochs_;
};

/// Those of the calling worker.
GpuLanes& gpu_lanes();
#endif

}  // namespace quarkstar::runtime
