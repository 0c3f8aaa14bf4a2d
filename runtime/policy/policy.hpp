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

/// Whether a session can be given that name: it is one of policy_names().
bool is_policy(std::string_view name);
/// Why it is none of them.
std::string why_no_policy(std::string_view name);

/// Our policy of that name, or nullptr.
starpu_sched_policy* find_own_policy(std::string_view name);

/// The policy that a session is asked for: one of ours, or that of a shared library (policy_library.hpp); nullptr: one that StarPU knows by
/// the name. Throws Error(input) for unknown names, listing the known ones, and for libraries that do not fit.
starpu_sched_policy* resolve_policy(const std::string& name);

/// Whether workers take tasks out of each other's queues as in StarPU's `ws` and `lws`: idle thieves hold the lock of a queue whose tasks
/// they cannot run, so beside GPUs tasks that only CPUs, or only one GPU, may run go to a worker of these at once, and are in no queue.
bool steals(std::string_view name);

/// Whether all tasks of a block run on its owner, so that a batch of several owners can be one task each.
bool keeps_owners(std::string_view name);

/// Whether a batch of one owner is one task, which the policy gives to a worker as a whole. Of all policies but `static-unfused`.
bool fuses_batches(std::string_view name);

/// Idle workers of our policies give their core away instead of polling on: for ranks that share cores, where a poller delays
/// every message by the system's time slice.
void yield_when_idle(bool yields);

/// The `static` policy: every task runs on the worker that owns its block, urgent tasks first; nothing is stolen.
starpu_sched_policy& static_policy();

/// The `static-unfused` policy: places tasks as `static` does, and sees each of them: a batch stays as many tasks as it has. The difference
/// is what fusing and replaying are worth; a policy that sees every task is compared with this one.
starpu_sched_policy& static_unfused_policy();

/// The `adaptive` policy: as `static` within a solve; the owners' parts follow their measured speeds from solve to solve
/// (runtime/cut/resplit.hpp).
starpu_sched_policy& adaptive_policy();

/// The `halo-first` policy: packs and boundaries before interiors; an idle worker takes a task where it ends it clearly earlier than the
/// owner would, the way of its data there and back included.
starpu_sched_policy& halo_first_policy();

/// The `energy` policy: every task where it costs the fewest joules, by the watts of SessionOptions::power and measured speeds.
starpu_sched_policy& energy_policy();

}  // namespace quarkstar::runtime
