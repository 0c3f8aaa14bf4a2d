#pragma once
// What happens where multigrid fails.
#include "solvers/multigrid/multigrid.hpp"

#include <memory>
#include <string>

namespace quarkstar {

/// What solves where multigrid does not.
inline constexpr const char* fallback_solver = "bicgstab";

/// A multigrid; where its set-up fails a second one, from twice as many steps; where that fails too nothing, if settings.fallback, or else
/// Error(numerical). Says on the root what has failed.
std::unique_ptr<const Multigrid> set_up(PreparedAction& fine, const MultigridSettings& settings, double mass);

/// A warning, on the root.
void tell_of_multigrid(const std::string& what);

}  // namespace quarkstar
