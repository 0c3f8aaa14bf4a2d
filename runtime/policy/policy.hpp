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

/// Names of every policy that --policy takes, ours first.
std::vector<std::string> policy_names();

/// Our policy of that name, or nullptr.
starpu_sched_policy* find_own_policy(std::string_view name);

/// The `static` policy: every task runs on the worker that owns its block, urgent tasks first; nothing is stolen.
starpu_sched_policy& static_policy();

}  // namespace quarkstar::runtime
