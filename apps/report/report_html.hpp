#pragma once
#include "apps/run/report.hpp"

#include <string>

namespace quarkstar::app {

/// One self-contained page: parameters, plots (correlators, effective masses, residual histories, timeline), tables of
/// solves, correlators and workers, machine and versions. No scripts, no external resources; follows the reader's light
/// or dark setting.
std::string report_html(const RunReport& report);

}  // namespace quarkstar::app
