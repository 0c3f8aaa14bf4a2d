#include "runtime/policy/policy.hpp"

#include <starpu.h>
#include <starpu_scheduler.h>

namespace quarkstar::runtime {
namespace {

bool is_starpu_policy(std::string_view name) {
  for (starpu_sched_policy** policy = starpu_sched_get_predefined_policies(); *policy != nullptr; ++policy)
    if ((*policy)->policy_name != nullptr && (*policy)->policy_name == name) return true;
  return false;
}

}  // namespace

const std::vector<OwnPolicy>& own_policies() {
  static const std::vector<OwnPolicy> policies = {
      {"static", "every block has an owner; urgent tasks first; nothing is stolen", &static_policy()},
  };
  return policies;
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const OwnPolicy& own : own_policies()) names.emplace_back(own.name);
  for (const char* name : {"eager", "prio", "lws", "ws", "random", "dm", "dmda", "dmdar", "dmdas", "heteroprio"})
    if (is_starpu_policy(name)) names.emplace_back(name);
  return names;
}

bool is_policy(std::string_view name) { return find_own_policy(name) != nullptr || is_starpu_policy(name); }

starpu_sched_policy* find_own_policy(std::string_view name) {
  for (const OwnPolicy& own : own_policies())
    if (own.name == name) return own.policy;
  return nullptr;
}

}  // namespace quarkstar::runtime
