#pragma once
// GPU events as points in time on the host's clock.
#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/cuda.hpp"

#include <vector>

struct CUevent_st;

namespace quarkstar::runtime {

/// One GPU's events for reuse, and the point in time that it counts from.
class GpuClock {
 public:
  GpuClock() = default;
  ~GpuClock();
  GpuClock(const GpuClock&) = delete;
  GpuClock& operator=(const GpuClock&) = delete;

  /// An event of this GPU that nobody uses, with timing; a new one where all are in use. It is the caller's until
  /// give().
  CUevent_st* take();
  /// Takes back an event that has happened, or was never recorded.
  void give(CUevent_st* event) { pool_.push_back(event); }

  /// Starts to count where it has not. The stream, of the current GPU, should be idle. Some 50 us of the host.
  void start(CudaStream stream) {
    if (base_ == nullptr) anchor(stream);
  }
  /// Starts anew where that was so long ago that times would no longer be good to 1 us; for a clock with no event under way.
  void freshen(CudaStream stream);

  /// Of an event that has happened, in microseconds of starpu_timing_now; error about 10 us in common, 1 us between events.
  double host_us(CUevent_st* event) const;

  /// Counts from `event`, which then belongs to the clock, where that is late enough to matter; else returns false.
  bool move_to(CUevent_st* event, double us);

 private:
  void anchor(CudaStream stream);

  std::vector<CUevent_st*> pool_;
  CUevent_st* base_ = nullptr;
  double base_us_ = 0;
};

/// The calling worker's clock of the current GPU.
GpuClock& gpu_clock();

}  // namespace quarkstar::runtime
#endif
