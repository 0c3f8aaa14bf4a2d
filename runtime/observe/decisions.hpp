#pragma once
// What a policy decided: of each task where it could have run, where it ran, and what that took.
#include <string>
#include <string_view>
#include <vector>

struct starpu_sched_policy;
struct starpu_task;

namespace quarkstar::runtime {

class Session;

namespace detail {
struct TaskRecord;
}

/// While one lives, sessions that start log the tasks that StarPU gets, a batch of iterations being one, in the order in which they became
/// ready. It costs each task some predictions and a lock, about 100 bytes, and 16 bytes for each worker. One at a time, and it outlives the
/// session.
class Decisions {
 public:
  /// Logs the first tasks, so many, and with so many predictions in all, at most: about 85 MB.
  explicit Decisions(std::size_t most_tasks = 200'000, std::size_t most_choices = 4'000'000);

  /// What was known of a worker that can run a task, in microseconds, when the task was ready.
  struct Choice {
    int worker;
    float free_us;    ///< what the task that it ran was expected to need still; what waited behind that is not known
    float moving_us;  ///< moving data to it and back
    float length_us;  ///< the task itself
    double end_us() const { return double{free_us} + moving_us + length_us; }
  };
  struct Task {
    std::string_view codelet;
    int block, owner;
    std::vector<Choice> choices;                ///< none: StarPU ties the task to a worker, and no policy is asked
    int worker;                                 ///< that ran it; -1: none yet
    double ready_us, begin_us = 0, end_us = 0;  ///< StarPU's clock
    /// The worker that was expected to end it first; -1 without choices.
    int soonest() const;
  };

  ~Decisions();
  Decisions(const Decisions&) = delete;
  Decisions& operator=(const Decisions&) = delete;

  /// Read it when no task is running.
  const std::vector<Task>& tasks() const;

  /// As JSON: `policy`, `workers` (names), `left_out` (tasks that came later), `tasks`: `codelet`, `block`, `owner`, `soonest`, `worker`,
  /// `ready_us`, `begin_us`, `took_us` (times from the first one's), `choices` (`worker`, `free_us`, `moving_us`, `length_us`). Throws
  /// Error(environment) when the file cannot be written.
  void write(const Session& session, const std::string& path) const;

  /// For a session that starts: the policy, or that of StarPU's with this name, which logs what it is asked; the policy as it is where
  /// nothing is logged.
  static starpu_sched_policy* watched(starpu_sched_policy* policy, const std::string& name);
  /// For the functions that StarPU calls.
  static void begins(const detail::TaskRecord* record, int worker);
  static void ends(const detail::TaskRecord* record);

 private:
  struct Log;
};

}  // namespace quarkstar::runtime
