#pragma once
// What ran where and when: per-worker event lists and running totals, filled by the task trampoline.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/cost.hpp"

namespace quarkstar::runtime {

/// One executed task. Times in microseconds of StarPU's clock.
struct Event {
  const char* name;
  int block;
  double begin_us, end_us;
  Cost cost;
  bool skipped;  ///< the graph had been stopped: no work was done
};

/// Totals since the last reset.
struct Totals {
  std::int64_t submitted = 0, submitted_parts = 0;  ///< StarPU's tasks, and the codelets in them (more where a batch became one task)
  std::int64_t executed = 0;                        ///< codelets, without those that a stopped graph skipped
  double flops = 0, bytes = 0;               ///< of the executed
  double submitted_flops = 0, submitted_bytes = 0;
  double busy_us = 0;  ///< summed over workers
};

class Events {
 public:
  Events(int workers, bool keep) : lanes_(static_cast<std::size_t>(workers)), detail_(keep ? Detail::tasks : Detail::totals) {}

  /// Called by a worker's own thread only.
  void record(int worker, const Event& event);
  void count_submission(const Cost& cost) {
    submitted_.fetch_add(1, std::memory_order_relaxed);
    submitted_parts_.fetch_add(1, std::memory_order_relaxed);
    submitted_flops_.fetch_add(cost.flops, std::memory_order_relaxed);
    submitted_bytes_.fetch_add(cost.bytes, std::memory_order_relaxed);
  }

  /// A submitted task has so many parts beyond the first.
  void count_more_parts(std::size_t parts) { submitted_parts_.fetch_add(static_cast<std::int64_t>(parts), std::memory_order_relaxed); }

  /// What workers do while they run. totals: counts only. tasks: every task is kept. parts: and a GPU times the parts of a batch one by
  /// one, which takes them out of their CUDA graph; otherwise it only knows when a batch was handed to the driver.
  enum class Detail { totals, tasks, parts };
  /// Call when no task is running.
  void set_detail(Detail detail) { detail_ = detail; }
  Detail detail() const { return detail_; }

  /// Read these when no task is running (after Session::wait_all).
  Totals totals() const;
  void reset();
  const std::vector<Event>& of_worker(int worker) const { return lanes_[static_cast<std::size_t>(worker)].events; }
  int workers() const { return static_cast<int>(lanes_.size()); }

 private:
  struct alignas(64) Lane {  // own cache line: workers write these at the same time
    std::vector<Event> events;
    Totals totals;
  };
  std::vector<Lane> lanes_;
  Detail detail_;
  std::atomic<std::int64_t> submitted_{0}, submitted_parts_{0};
  std::atomic<double> submitted_flops_{0}, submitted_bytes_{0};
};

}  // namespace quarkstar::runtime
