// Environment variables that are on or off.
#include "runtime/switch_variable.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "runtime/error.hpp"

using namespace quarkstar;

TEST_CASE("a switch is on, off or unset, and any other value is refused by name") {
  const char* const variable = runtime::overlap_switch;
  const char* const before = std::getenv(variable);
  const std::string kept = before == nullptr ? "" : before;
  ::unsetenv(variable);
  CHECK_FALSE(runtime::switch_in(variable).has_value());
  ::setenv(variable, "", 1);
  CHECK_FALSE(runtime::switch_in(variable).has_value());
  ::setenv(variable, "on", 1);
  CHECK(runtime::switch_in(variable) == true);
  ::setenv(variable, "off", 1);
  CHECK(runtime::switch_in(variable) == false);
  for (const char* wrong : {"0", "OFF", "off ", "no"}) {
    ::setenv(variable, wrong, 1);
    try {
      runtime::check_switches();
      FAIL("accepted: " << wrong);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::input);
      CHECK(std::string(error.what()).find(std::string("$QUARKSTAR_OVERLAP: '") + wrong + "'") == 0);
    }
  }
  if (before == nullptr) ::unsetenv(variable);
  else ::setenv(variable, kept.c_str(), 1);
}
