#pragma once
#include <CLI/CLI.hpp>

namespace quarkstar::app {

/// Adds `gauge smear`: fat and long links of a staggered action, from a configuration into two files.
void add_gauge_smear(CLI::App& gauge);

}  // namespace quarkstar::app
