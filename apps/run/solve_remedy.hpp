#pragma once
#include "apps/run/config.hpp"

#include <string>

namespace quarkstar::app {

/// What helps where a solve has not converged.
std::string remedy_for(StopReason reason, const RunConfig& config);

}  // namespace quarkstar::app
