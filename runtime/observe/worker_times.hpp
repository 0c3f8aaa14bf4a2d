#pragma once
// Where the time of each worker went, and what moved between memories.
#include <cstdint>
#include <string>
#include <vector>

namespace quarkstar::runtime {

class Session;
struct Owners;

/// A worker's time, seconds: total = busy + transfer + overhead + idle.
struct WorkerTimes {
  std::int64_t tasks = 0;  ///< that did work; the parts of a fused task count one by one
  double total = 0;
  double busy = 0;      ///< in tasks; on a GPU while kernels ran
  double transfer = 0;  ///< waiting for a task's data
  double overhead = 0;  ///< choosing tasks, and callbacks
  double idle = 0;      ///< the rest: nothing was ready for it
  double bytes = 0;     ///< of the tasks' cost
  /// Microseconds of busy time per task.
  double us_per_task() const { return tasks > 0 ? 1e6 * busy / static_cast<double>(tasks) : 0; }
};

/// What went from one memory to another.
struct LinkTraffic {
  std::string from, to;  ///< StarPU's names of memory nodes, e.g. "NUMA 0", "CUDA 0"
  double bytes = 0;
  std::int64_t transfers = 0;
};

/// The session's workers, and what StarPU measured of the ways between their memories when it was calibrated.
Owners owners_and_ways(const Session& session);

/// Sums from its construction on, or from the last restart(). One at a time in a process.
class WorkerProfile {
 public:
  explicit WorkerProfile(Session& session);
  ~WorkerProfile();
  WorkerProfile(const WorkerProfile&) = delete;
  WorkerProfile& operator=(const WorkerProfile&) = delete;

  /// Exact when no task is running (after Session::wait_all). Of a task under way the time so far is in `total`, and in `busy` only when it
  /// has ended: where other solves are in flight, up to one task per worker counts as something else.
  void restart();
  /// By worker.
  std::vector<WorkerTimes> times();
  /// Links over which something moved.
  std::vector<LinkTraffic> links();

 private:
  void collect();
  Session& session_;
  std::vector<WorkerTimes> times_, at_start_;
  std::vector<LinkTraffic> links_;
};

}  // namespace quarkstar::runtime
