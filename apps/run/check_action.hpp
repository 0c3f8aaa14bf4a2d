#pragma once
#include "apps/run/config.hpp"

namespace quarkstar::app {

/// Throws Error(input) naming the place of the first setting that means nothing for the action.
void check_applicable(const RunConfig& config);

/// The part of check_complete() that needs neither a configuration nor outputs: throws Error(input) naming the setting for what the action
/// and the solver of a run exclude.
void check_action(const RunConfig& config);

}  // namespace quarkstar::app
