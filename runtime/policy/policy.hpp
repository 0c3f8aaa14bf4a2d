#pragma once
// Scheduling policies by name: StarPU's own and ours.
#include <string>
#include <string_view>
#include <vector>

struct starpu_sched_policy;

namespace quarkstar::runtime {

/// A policy of ours. A new one is one file that defines a `starpu_sched_policy`, and one line in policy.cpp.
struct OwnPolicy {
  std::string_view name, description;
  starpu_sched_policy* policy;
};

/// Policies of ours.
const std::vector<OwnPolicy>& own_policies();

/// The policies that help and errors offer: ours first, then those of StarPU's that fit a worker with a team of threads and a task
/// graph with priorities. The tests run each of them.
std::vector<std::string> policy_names();

/// Whether a session can be given that name: one of ours, or any that StarPU was built with.
bool is_policy(std::string_view name);

/// Our policy of that name, or nullptr.
starpu_sched_policy* find_own_policy(std::string_view name);

/// Idle workers of the `static` policy give their core away instead of polling on: for ranks that share cores, where a poller delays
/// every message by the system's time slice.
void yield_when_idle(bool yields);

/// The `static` policy: every task runs on the worker that owns its block, urgent tasks first; nothing is stolen.
starpu_sched_policy& static_policy();

}  // namespace quarkstar::runtime
