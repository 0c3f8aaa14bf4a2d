// Environment variables that are on or off.
#include "runtime/system/switch_variable.hpp"

#include "tests/unit/environment_testing.hpp"
#include "tests/unit/error_testing.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>

namespace switch_variable_test {

using namespace quarkstar;

TEST_CASE("a switch is on, off or unset, and any other value is refused by name") {
  const char* const variable = runtime::overlap_switch;
  const std::pair<const char*, std::optional<bool>> known[] = {{nullptr, {}}, {"", {}}, {"on", true}, {"off", false}};
  for (const auto& [value, expected] : known) {
    const testing::Environment set(variable, value);
    CHECK(runtime::switch_in(variable) == expected);
  }
  for (const char* wrong : {"0", "OFF", "off ", "no"}) {
    const testing::Environment set(variable, wrong);
    const std::string message = error_testing::message_of([] { runtime::check_switches(); });
    CHECK(message.find(std::string("$QUARKSTAR_OVERLAP: '") + wrong + "'") == 0);
  }
}

}  // namespace switch_variable_test
