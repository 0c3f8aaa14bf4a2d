#pragma once
#include "apps/campaign/run.hpp"

#include <string>

namespace quarkstar::app::campaign {

/// One self-contained page: for each quark and kind of source plots of the averaged correlators and effective masses with error bars, and a
/// table of the masses; what the workers did in the first solve; failures, configurations, settings, versions. No scripts, no external
/// resources.
std::string page(const Outcome& outcome, const std::vector<Average>& averages);

}  // namespace quarkstar::app::campaign
