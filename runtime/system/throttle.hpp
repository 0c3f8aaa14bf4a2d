#pragma once
// Workers that look slower than they are, for experiments with schedulers. No result depends on it.
#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

namespace quarkstar::runtime {

/// What happens to one CPU worker: every task takes `factor` times as long, and now and then one takes hiccup_us more. An infinite factor:
/// its tasks fail; workers of GPUs have that alone.
struct Throttle {
  int worker = 0;
  double factor = 1;  ///< at least 1
  double chance = 0;  ///< of a hiccup, for each task
  double hiccup_us = 0;
  double from_s = 0;       ///< nothing happens to tasks that begin earlier than so many seconds after the session's start
  std::uint64_t seed = 1;  ///< of the hiccups: the n-th task that a worker runs has one or not, whatever else happens
};

/// The throttles of a session's workers.
class Throttler {
 public:
  Throttler() = default;
  /// Throws Error(input) naming throttle for numbers out of range, for a worker that is none of [0, workers), and for one below first_cpu,
  /// of a GPU, that is to be slow.
  Throttler(const std::vector<Throttle>& throttles, int first_cpu, int workers);

  /// Whether the worker's tasks fail now. Called by the worker's own thread.
  bool fails(int worker) const;
  /// Microseconds by which a task is to be delayed that began begun_s seconds after the start and took so long; 0 where nothing is asked
  /// for. Called by the worker's own thread.
  double delay_us(int worker, double begun_s, double took_us);
  /// Keeps the calling worker busy for that long after a task that began at begin_us of StarPU's clock. Returns the time when it is over.
  double stretch(int worker, double begin_us);

 private:
  struct alignas(64) Lane {  // own cache line: workers use these at the same time
    Throttle throttle;
    std::mt19937_64 random;
  };
  std::vector<Lane> lanes_;                                                         ///< by worker; empty where no worker is throttled
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();  ///< of the session, which makes it
};

}  // namespace quarkstar::runtime
