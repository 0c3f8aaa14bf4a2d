#include "runtime/policy/policy.hpp"

#include <starpu.h>
#include <starpu_scheduler.h>

namespace quarkstar::runtime {

const std::vector<OwnPolicy>& own_policies() {
  static const std::vector<OwnPolicy> policies = {
      {"static", "every block has an owner; urgent tasks first; nothing is stolen", &static_policy()},
  };
  return policies;
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const OwnPolicy& own : own_policies()) names.emplace_back(own.name);
  for (starpu_sched_policy** policy = starpu_sched_get_predefined_policies(); *policy != nullptr; ++policy)
    if ((*policy)->policy_name != nullptr) names.emplace_back((*policy)->policy_name);
  return names;
}

starpu_sched_policy* find_own_policy(std::string_view name) {
  for (const OwnPolicy& own : own_policies())
    if (own.name == name) return own.policy;
  return nullptr;
}

}  // namespace quarkstar::runtime
