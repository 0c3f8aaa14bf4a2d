#ifdef QUARKSTAR_CUDA
#include "runtime/observe/gpu_times.hpp"

#include <cuda_runtime_api.h>
#include <starpu.h>

#include <algorithm>
#include <span>

#include "runtime/observe/share_interval.hpp"

namespace quarkstar::runtime {
namespace {

/// One worker's events for reuse, and the point in time that it counts from.
class Clock {
 public:
  ~Clock() {
    for (const cudaEvent_t event : pool_) cudaEventDestroy(event);
    if (base_ != nullptr) cudaEventDestroy(base_);
  }

  cudaEvent_t take() {
    if (pool_.empty()) {
      cudaEvent_t event = nullptr;
      cudaEventCreate(&event);
      check_launch("event");
      return event;
    }
    const cudaEvent_t event = pool_.back();
    pool_.pop_back();
    return event;
  }
  void give(cudaEvent_t event) { pool_.push_back(event); }

  void start(CudaStream stream) {
    if (base_ != nullptr) return;
    base_ = take();
    cudaEventRecord(base_, stream);
    cudaEventSynchronize(base_);
    base_us_ = starpu_timing_now();
  }

  double host_us(cudaEvent_t event) const {
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, base_, event);
    return base_us_ + 1e3 * static_cast<double>(milliseconds);
  }

  /// Counts from `event` on where that is late: elapsed times come in single precision, good to 1 us for some seconds only.
  bool move_to(cudaEvent_t event, double us) {
    constexpr double longest_us = 4e6;
    if (us - base_us_ < longest_us) return false;
    give(base_);
    base_ = event;
    base_us_ = us;
    return true;
  }

 private:
  std::vector<cudaEvent_t> pool_;
  cudaEvent_t base_ = nullptr;
  double base_us_ = 0;
};

Clock& worker_clock() {
  static thread_local Clock clock;
  return clock;
}

}  // namespace

GpuTimes::GpuTimes(CudaStream stream) : stream_(stream) {
  worker_clock().start(stream);
  mark();
}

GpuTimes::~GpuTimes() {
  for (const cudaEvent_t event : marks_)
    if (event != nullptr) worker_clock().give(event);
}

void GpuTimes::mark() {
  marks_.push_back(worker_clock().take());
  cudaEventRecord(marks_.back(), stream_);
}

void GpuTimes::add(const Event& event, bool marked) {
  parts_.push_back(event);
  if (!marked) return;
  mark();
  groups_.push_back(parts_.size());
}

void GpuTimes::end() {
  if (!groups_.empty() && groups_.back() == parts_.size()) return;
  mark();
  groups_.push_back(parts_.size());
}

void GpuTimes::record(Events& events, int worker) {
  Clock& clock = worker_clock();
  std::size_t first = 0;
  double begin = clock.host_us(marks_.front()), end = begin;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    end = std::max(begin, clock.host_us(marks_[g + 1]));
    share_interval(std::span(parts_).subspan(first, groups_[g] - first), begin, end);
    first = groups_[g];
    begin = end;
  }
  for (const Event& event : parts_) events.record(worker, event);
  if (clock.move_to(marks_.back(), end)) marks_.pop_back();
}

}  // namespace quarkstar::runtime
#endif
