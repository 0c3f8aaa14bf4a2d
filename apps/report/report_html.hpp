#pragma once
#include "apps/run/report.hpp"

#include <string>

namespace quarkstar::app {

/// One self-contained page: parameters, plots (correlators, effective masses, residual histories, timeline), tables of
/// solves, correlators and workers, machine and versions. No scripts, no external resources; follows the reader's light
/// or dark setting.
std::string report_html(const RunReport& report);

/// Its effective masses and, of the first colour of each spin, residual histories, as a picture of their own.
std::string report_svg(const RunReport& report);

}  // namespace quarkstar::app
