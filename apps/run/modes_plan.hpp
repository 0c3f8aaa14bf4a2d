#pragma once
// Where the modes of a deflated solve have room.
#include "apps/run/memory_check.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace quarkstar::app {

/// Decides modes_memory(config): on GPUs, and where these have no room for them beside the solve in host memory, in the way that is
/// predicted to be faster (solvers/eigen/modes_memory.hpp), if the solve then fits. Returns its needs of memory, by needs_of(). why:
/// what was predicted, where a way was chosen. Of settings without a projector, and of runs for eigenvectors, the needs alone. Collective.
std::vector<MemoryNeed> place_modes(const runtime::Session& session, std::span<const runtime::Decomposition> islands, RunConfig& config,
                                    const std::function<std::vector<MemoryNeed>(const RunConfig&)>& needs_of, std::string* why = nullptr);

}  // namespace quarkstar::app
