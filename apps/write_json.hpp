#pragma once
#include "apps/report.hpp"

#include <nlohmann/json_fwd.hpp>

namespace quarkstar::app {

/// The results as JSON; keys in docs/usage.md. Numbers that are not finite become null. After a failed solve "status"
/// is "failed" and there are no correlators.
nlohmann::ordered_json report_json(const RunReport& report);

}  // namespace quarkstar::app
