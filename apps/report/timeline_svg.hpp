#pragma once
#include "apps/run/report.hpp"

#include <string>
#include <string_view>

namespace quarkstar::app {

/// Codelets that share a colour: the parts of an operator, "wilson interior" for wilson.double.18.interior; "scalar" for the steps
/// of a solver (bicgstab.alpha); "blas" for blas.norm.double.
/// kind: the codelet's, as name_of(runtime::CodeletKind).
std::string task_group(const std::string& codelet, std::string_view kind);

/// <figure>: one row per worker, one bar per task, time from left to right; hovering names task, block and duration.
/// "no data" without tasks.
std::string timeline_figure(const RunReport& report);

}  // namespace quarkstar::app
