#include "runtime/policy/policy_library.hpp"

#include "runtime/graph/session.hpp"
#include "runtime/policy/placing.hpp"
#include "runtime/policy/plugin.hpp"
#include "runtime/system/error.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

namespace quarkstar::runtime {
namespace {

int task_facts(const starpu_task* task, plugin::TaskFacts* facts) {
  const detail::TaskRecord* record = placing::record_of(task);
  if (record == nullptr) return 0;
  *facts = {record->codelet->name(), record->cost.flops,      record->cost.bytes,
            record->placement.owner, record->placement.block, record->placement.urgent ? 1 : 0};
  return 1;
}

double watts(int worker, int busy) {
  const PowerDraw& power = Session::current().worker(worker).power;
  return busy != 0 ? power.busy : power.idle;
}

int can_execute(const starpu_task* task, int worker) { return placing::can_execute(task, worker) ? 1 : 0; }

constexpr plugin::Host host{plugin::abi, task_facts, placing::expected_us, placing::moving_us, can_execute, watts, placing::push_to};

[[noreturn]] void refuse(const std::string& path, const std::string& what, const std::string& remedy) {
  throw Error(ErrorKind::input, Parameter("policy"), fmt::format("{}: {}", path, what), remedy);
}

/// What does not fit, or nothing.
std::string mismatch(const plugin::Header& found) {
  const plugin::Header& ours = plugin::header;
  if (found.abi != ours.abi) return fmt::format("it has version {} of the interface for policies, this is version {}", found.abi, ours.abi);
  if (found.starpu_major != ours.starpu_major || found.starpu_minor != ours.starpu_minor)
    return fmt::format("it was compiled with StarPU {}.{}, this is {}.{}", found.starpu_major, found.starpu_minor, ours.starpu_major,
                       ours.starpu_minor);
  if (found.policy_bytes != ours.policy_bytes || found.task_bytes != ours.task_bytes)
    return "it was compiled with a StarPU of other build options";
  return {};
}

}  // namespace

bool is_policy_library(std::string_view name) { return name.find('/') != name.npos || name.ends_with(".so"); }

starpu_sched_policy* load_policy(const std::string& path) {
  const std::string recompile = "compile it with this package's headers and its StarPU (docs/howto/policy.md)";
  // A name without a slash would be looked for in the system's folders only.
  const std::string file = path.find('/') == path.npos ? "./" + path : path;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) refuse(path, "no such file", "give the path of a policy's shared library");
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse(path, fmt::format("cannot be loaded ({})", dlerror()), recompile);
  const auto* found = static_cast<const plugin::Header*>(dlsym(library, "quarkstar_policy_header"));
  using Make = starpu_sched_policy* (*)(const plugin::Host*);
  const auto make = reinterpret_cast<Make>(dlsym(library, "quarkstar_policy_make"));
  if (found == nullptr || make == nullptr)
    refuse(path,
           fmt::format("is no scheduling policy: no symbol {}", found == nullptr ? "quarkstar_policy_header" : "quarkstar_policy_make"),
           "end it in QUARKSTAR_POLICY(...) (docs/howto/policy.md)");
  if (const std::string why = mismatch(*found); !why.empty()) refuse(path, why, recompile);
  starpu_sched_policy* policy = make(&host);
  if (policy->policy_name == nullptr || policy->push_task == nullptr || policy->init_sched == nullptr)
    refuse(path, "its policy has no name, init_sched or push_task", "fill them in (docs/howto/policy.md)");
  return policy;
}

}  // namespace quarkstar::runtime
