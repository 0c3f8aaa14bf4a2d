#pragma once
#include "apps/report.hpp"

#include <string>

namespace quarkstar::app {

/// <figure>: one row a worker, one bar a task, time from left to right; hovering names task, block and duration.
/// "no data" without tasks.
std::string timeline_figure(const RunReport& report);

}  // namespace quarkstar::app
