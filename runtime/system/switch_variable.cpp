#include "runtime/system/switch_variable.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace quarkstar::runtime {

std::optional<bool> switch_in(const char* variable) {
  const char* value = std::getenv(variable);
  const std::string_view text = value == nullptr ? "" : value;
  if (text.empty()) return {};
  if (text == "on") return true;
  if (text == "off") return false;
  throw Error(ErrorKind::input, std::string("$") + variable, fmt::format("'{}' is neither on nor off", text),
              "give one of them, or unset the variable");
}

void check_switches() {
  for (const char* variable : all_switches) (void)switch_in(variable);
}

}  // namespace quarkstar::runtime
