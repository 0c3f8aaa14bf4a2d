#pragma once
#include "apps/run/report.hpp"

#include <nlohmann/json_fwd.hpp>

namespace quarkstar::app {

/// The results as JSON; keys in docs/usage.md. Numbers that are not finite become null. After a failed solve "status"
/// is "failed" and there are no correlators.
nlohmann::ordered_json report_json(const RunReport& report);

/// Parts, shares and the bound of a plan; gflops: what was reached, for the fraction (0: left out).
nlohmann::ordered_json devices_json(const DevicePlan& plan, double gflops = 0);

/// Where the time of a worker went, and what moved between memories.
nlohmann::ordered_json seconds_json(const runtime::WorkerTimes& times);
nlohmann::ordered_json links_json(const std::vector<runtime::LinkTraffic>& links);

}  // namespace quarkstar::app
