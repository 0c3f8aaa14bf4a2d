#pragma once
// What the watchdog may expect before the command line is parsed: ranks meet first, so that they can speak of a wrong line with one voice.
#include "runtime/system/stall.hpp"

#include <string>
#include <vector>

namespace quarkstar::app {

/// What --watchdog, and --limit of `machine --self-test`, will set when they are parsed; the usual where they are absent or wrong, of which
/// the parser will speak; and the remedy that fits the command. arguments: without the program's name.
runtime::Patience start_patience(const std::vector<std::string>& arguments);

}  // namespace quarkstar::app
