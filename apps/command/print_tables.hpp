#pragma once
#include "apps/run/report.hpp"

namespace quarkstar::app {

/// Prints the solves, then C(t) of every correlator and the effective masses of the first, as text to stdout.
void print_report(const RunReport& report);

/// Prints what runs where and how much memory it takes, before the run.
void print_plan(const RunReport& report);

}  // namespace quarkstar::app
