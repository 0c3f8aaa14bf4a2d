#pragma once
#include "apps/campaign/run.hpp"

#include <string>

namespace quarkstar::app::campaign {

/// One self-contained page: for each quark and kind of source plots of the averaged correlators and effective masses with error bars, and a
/// table of the masses; what the workers did in the first solve; failures, configurations, settings, versions. No scripts, no external
/// resources.
std::string page(const Outcome& outcome, const std::vector<Average>& averages);

/// A value with its error in the last two digits, "0.4512(23)"; "0.4512" where the error is not known, "-" where the value is not.
std::string text_with_error(const Estimate& estimate);

}  // namespace quarkstar::app::campaign
