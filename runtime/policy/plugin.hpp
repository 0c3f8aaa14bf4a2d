#pragma once
// The door for scheduling policies in shared libraries: `./libmine.so` as the name of the policy. A library includes this header alone,
// defines a `starpu_sched_policy` and ends in
//
//     QUARKSTAR_POLICY(make_policy)
//
// where make_policy is a function `starpu_sched_policy make_policy()`. It needs no symbol of the package and no rebuilding of it: StarPU's
// are in the process already, and what the package adds comes through quarkstar::plugin below. A whole policy: docs/howto/policy.md.
#include <starpu.h>
#include <starpu_scheduler.h>

#include <climits>
#include <cstdint>

namespace quarkstar::plugin {

/// Grows by one with every change to this header that an older library would not survive.
inline constexpr std::uint32_t abi = 1;

/// What was said about a task at its submission.
struct TaskFacts {
  const char* codelet = "";
  double flops = 0, bytes = 0;
  std::int32_t owner = 0;   ///< worker that owns the block
  std::int32_t block = -1;  ///< -1: of no block
  std::int32_t urgent = 0;  ///< 1: others wait for it (packs, boundaries, scalars)
};

/// What the package knows and StarPU does not.
struct Host {
  std::uint32_t abi;
  /// Fills `facts` and returns 1; returns 0 for StarPU's own helper tasks, of which nothing is known.
  int (*task_facts)(const starpu_task* task, TaskFacts* facts);
  /// Expected microseconds of a task on a worker without moving its data, from what was measured in this session, else by the cost model.
  double (*expected_us)(starpu_task* task, int worker);
  /// Microseconds that moving its data to that worker takes, and the result back to its owner.
  double (*moving_us)(starpu_task* task, int worker);
  /// 1 where the worker has an implementation of the task and may run it. To be asked before push_to().
  int (*can_execute)(const starpu_task* task, int worker);
  /// Watts of a worker: 0 idle, 1 busy.
  double (*watts)(int worker, int busy);
  /// Puts the task into the list of that worker, ordered by priority, fetches its data and wakes the worker.
  int (*push_to)(int worker, starpu_task* task);
};

/// Set before make_policy is called. Each library has its own.
__attribute__((visibility("hidden"))) inline const Host* host = nullptr;

/// A policy of this name that calls `push` when a task is ready; it accepts any priority and has no queue of its own. Other functions can
/// be replaced in what is returned.
inline starpu_sched_policy policy(const char* name, const char* description, int (*push)(starpu_task*)) {
  starpu_sched_policy filled{};
  filled.init_sched = [](unsigned context) {
    starpu_sched_ctx_set_min_priority(context, INT_MIN);
    starpu_sched_ctx_set_max_priority(context, INT_MAX);
  };
  filled.deinit_sched = [](unsigned) {};
  filled.add_workers = filled.remove_workers = [](unsigned, int*, unsigned) {};
  filled.push_task = push;
  filled.pop_task = [](unsigned) -> starpu_task* { return nullptr; };  // workers empty their own lists before they ask
  filled.prefetches = 1;
  filled.policy_name = name;
  filled.policy_description = description;
  return filled;
}

/// What a library was compiled against: read before anything of it is called.
struct Header {
  std::uint32_t abi, starpu_major, starpu_minor, policy_bytes, task_bytes;
};
inline constexpr Header header{abi, STARPU_MAJOR_VERSION, STARPU_MINOR_VERSION, sizeof(starpu_sched_policy), sizeof(starpu_task)};

}  // namespace quarkstar::plugin

/// The two symbols that the package looks for.
#define QUARKSTAR_POLICY(make_policy)                                                           \
  extern "C" const quarkstar::plugin::Header quarkstar_policy_header;                           \
  const quarkstar::plugin::Header quarkstar_policy_header = quarkstar::plugin::header;          \
  extern "C" starpu_sched_policy* quarkstar_policy_make(const quarkstar::plugin::Host* given) { \
    quarkstar::plugin::host = given;                                                            \
    static starpu_sched_policy made = make_policy();                                            \
    return &made;                                                                               \
  }
