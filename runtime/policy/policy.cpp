#include "runtime/policy/policy.hpp"

#include "runtime/policy/policy_library.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <starpu.h>
#include <starpu_scheduler.h>

#include <algorithm>

namespace quarkstar::runtime {
namespace {

/// Of StarPU's those that fit. Others abort for want of a model or a mapping of theirs (pheft, dmdasd, graph_test, modular-heteroprio).
constexpr std::string_view starpu_policies[] = {"eager", "prio", "lws", "ws", "random", "dm", "dmda", "dmdar", "dmdas", "heteroprio"};

bool is_starpu_policy(std::string_view name) {
  for (starpu_sched_policy** policy = starpu_sched_get_predefined_policies(); *policy != nullptr; ++policy)
    if ((*policy)->policy_name != nullptr && (*policy)->policy_name == name) return true;
  return false;
}

}  // namespace

const std::vector<OwnPolicy>& own_policies() {
  static const std::vector<OwnPolicy> policies = {
      {"static", "every block has an owner; urgent tasks first; nothing is stolen", &static_policy()},
      {"static-unfused", "as static, but no batch becomes one task: what other policies are to be compared with", &static_unfused_policy()},
      {"adaptive", "as static; blocks are cut anew between solves, from measured speeds, where that wins back its cost",
       &adaptive_policy()},
      {"halo-first", "packs and boundaries before interiors; idle workers steal what they end earlier, data's way included",
       &halo_first_policy()},
      {"energy", "each task where it costs the fewest joules; slow devices may stay idle", &energy_policy()},
  };
  return policies;
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const OwnPolicy& own : own_policies()) names.emplace_back(own.name);
  for (const std::string_view name : starpu_policies)
    if (is_starpu_policy(name)) names.emplace_back(name);
  return names;
}

bool is_policy(std::string_view name) {
  const std::vector<std::string> names = policy_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string why_no_policy(std::string_view name) {
  return is_starpu_policy(name)
             ? fmt::format("StarPU's policy {} is not taken: it is not tested with worker teams and priorities, and some of its kind abort",
                           name)
             : fmt::format("'{}' is unknown", name);
}

starpu_sched_policy* find_own_policy(std::string_view name) {
  for (const OwnPolicy& own : own_policies())
    if (own.name == name) return own.policy;
  return nullptr;
}

bool keeps_owners(std::string_view name) { return name == "static" || name == "adaptive"; }

bool fuses_batches(std::string_view name) { return name != "static-unfused"; }

starpu_sched_policy* resolve_policy(const std::string& name) {
  if (is_policy_library(name)) return load_policy(name);
  if (!is_policy(name))
    throw Error(ErrorKind::input, Parameter("policy"), why_no_policy(name),
                fmt::format("use one of {}, or the path of a shared library", fmt::join(policy_names(), ", ")));
  return find_own_policy(name);
}

bool steals(std::string_view name) { return name == "ws" || name == "lws"; }

}  // namespace quarkstar::runtime
