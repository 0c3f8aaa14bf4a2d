#pragma once
// Environment variables that turn something on or off.
#include <optional>

namespace quarkstar::runtime {

/// For experiments, and for drivers that fail at what they name (docs/usage.md).
inline constexpr const char* overlap_switch = "QUARKSTAR_OVERLAP";
inline constexpr const char* gpu_flags_switch = "QUARKSTAR_GPU_FLAGS";
inline constexpr const char* gpu_ipc_switch = "QUARKSTAR_GPU_IPC";
inline constexpr const char* graph_conditions_switch = "QUARKSTAR_GRAPH_CONDITIONS";
/// In the order in which records of runs name them.
inline constexpr const char* all_switches[] = {overlap_switch, gpu_flags_switch, gpu_ipc_switch, graph_conditions_switch};

/// Whether a variable is `on` or `off`; none where it is unset or empty. Throws Error(input) that names it and its
/// value for any other.
std::optional<bool> switch_in(const char* variable);

/// Looks at all of them, so that a wrong one is told before work begins: where they are used, nobody could catch an
/// exception.
void check_switches();

}  // namespace quarkstar::runtime
