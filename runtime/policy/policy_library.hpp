#pragma once
// Policies that come in a shared library (runtime/policy/plugin.hpp).
#include <string>
#include <string_view>

struct starpu_sched_policy;

namespace quarkstar::runtime {

/// Whether the name of a policy is the path of a library: it has a slash, or ends in ".so".
bool is_policy_library(std::string_view name);

/// Loads the library, or finds it loaded; it stays until the process ends. Throws Error(input) naming the file where it cannot be loaded,
/// is no policy, or was compiled against another version of plugin.hpp or of StarPU.
starpu_sched_policy* load_policy(const std::string& path);

}  // namespace quarkstar::runtime
