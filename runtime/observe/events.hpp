#pragma once
// What ran where and when: per-worker event lists and running totals, filled by the task trampoline.
#include "runtime/graph/codelet_kind.hpp"
#include "runtime/graph/cost.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace quarkstar::runtime {

/// One codelet that ran: a task, or a part of a fused one. Times in microseconds of StarPU's clock.
struct Event {
  const char* name;
  int block;
  double begin_us, end_us;
  Cost cost;
  bool skipped;       ///< the graph had been stopped: no work was done
  bool side = false;  ///< ran in the side lane of its GPU (runtime/gpu/lane_schedule.hpp): beside what the main lane did
  int codelets = 1;   ///< that it stands for: more where only the time of a whole batch is known, 0 for what another worker counts
  CodeletKind kind = CodeletKind::other;
  bool estimated = false;  ///< its times are a share of those of several
};

/// Totals since the last reset.
struct Totals {
  std::int64_t submitted = 0;   ///< StarPU's tasks: a fused batch is one
  std::int64_t executed = 0;    ///< codelets, without those that a stopped graph skipped
  double flops = 0, bytes = 0;  ///< of the executed
  double busy_us = 0;           ///< in tasks, summed over the workers that they occupy: gaps between the kernels of a fused task count
  /// What was submitted, with the parts of fused tasks one by one. On a GPU `executed`, `flops` and `bytes` cannot tell which tasks a
  /// stopped graph skipped; a solver knows (solvers/krylov/work_ledger.hpp).
  std::int64_t submitted_parts = 0;
  Cost submitted_cost;
};

/// What one thread has submitted since it began.
struct Submissions {
  std::int64_t tasks = 0;  ///< StarPU's: a fused batch is one
  std::int64_t parts = 0;  ///< with the parts of fused tasks one by one
  Cost cost;
};

class Events {
 public:
  Events(int workers, bool keep) : lanes_(static_cast<std::size_t>(workers)), detail_(keep ? Detail::tasks : Detail::totals) {}

  /// A task that was one codelet. Any thread may call it.
  void record(int worker, const Event& event) { record(worker, std::span(&event, 1), event.end_us - event.begin_us); }
  /// The codelets of one task, which occupied the worker for busy_us.
  void record(int worker, std::span<const Event> events, double busy_us);
  void count_submission(const Cost& cost);
  /// The last submission stands for that many tasks.
  void count_fused(std::size_t parts);
  /// Of the calling thread, in all sessions: what one of several programs in flight has done is the difference of two of these.
  static const Submissions& of_this_thread();

  /// What workers do while they run. totals: counts only. tasks: every task is kept. parts: and a GPU times the parts of a batch one by
  /// one, which takes them out of their CUDA graph; otherwise they share the time of the batch in proportion to their bytes.
  enum class Detail { totals, tasks, parts };
  /// Call when no task is running.
  void set_detail(Detail detail) { detail_ = detail; }
  Detail detail() const { return detail_; }

  /// Read these when no task is running (after Session::wait_all).
  Totals totals() const;
  void reset();

  /// Recent bytes over time in tasks of a worker, GB/s: the last twenty tasks or so that took 2 us and more; 0 where it had none yet.
  /// reset() leaves it. Anyone may ask at any time.
  double measured_gbs(int worker) const { return lanes_[static_cast<std::size_t>(worker)].recent_gbs.load(std::memory_order_relaxed); }
  /// Tasks that did work and microseconds in tasks, since the session began: reset() leaves them. Read as totals().
  struct Lifetime {
    std::int64_t executed = 0;
    double busy_us = 0, bytes = 0;
    double moving_us = 0;  ///< in tasks that moved bytes: not in those that copy from fields of the host, whose bytes nobody counts
  };
  Lifetime lifetime(int worker) const {
    const Lane& lane = lanes_[static_cast<std::size_t>(worker)];
    const std::lock_guard guard(lane.mutex);
    return lane.lifetime;
  }
  /// How fast a worker was in one codelet.
  struct Rate {
    double bytes = 0, us = 0;  ///< of all its tasks; where only a batch's time is known, their parts of it
    double best_gbs = 0;       ///< of the fastest task
  };
  /// Whether workers keep rates(). Going on forgets what was kept. Call when no task is running.
  void watch_rates(bool watch);
  /// By codelet, of the tasks that moved bytes while rates were watched; on a GPU those that a stopped graph skipped count too. Read as
  /// totals().
  const std::map<std::string_view, Rate>& rates(int worker) const { return lanes_[static_cast<std::size_t>(worker)].rates; }
  const std::vector<Event>& of_worker(int worker) const { return lanes_[static_cast<std::size_t>(worker)].events; }
  int workers() const { return static_cast<int>(lanes_.size()); }

 private:
  struct alignas(64) Lane {    // own cache line: workers write these at the same time
    mutable std::mutex mutex;  // a task over several GPUs writes to the lanes of all of them
    std::vector<Event> events;
    Totals totals;
    Lifetime lifetime;
    std::map<std::string_view, Rate> rates;  // by the codelets' own names
    double recent_bytes = 0, recent_us = 0;  ///< sums in which what is older weighs less
    std::atomic<double> recent_gbs{0};
  };
  std::vector<Lane> lanes_;
  Detail detail_;
  std::atomic<bool> watches_rates_{false};
  std::atomic<std::int64_t> submitted_{0}, submitted_parts_{0};
  std::atomic<double> submitted_flops_{0}, submitted_bytes_{0};
};

}  // namespace quarkstar::runtime
