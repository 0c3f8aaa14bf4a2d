#pragma once
// Settings of actions: what an action declares, and the values that a run gives. Command line, TOML, reports, restart files and the
// agreement of ranks follow from the declaration.
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace quarkstar {

/// std::monostate: not given, where there is no initial value.
using SettingValue = std::variant<std::monostate, bool, int, double, std::string, std::vector<double>>;
/// Those that were given, by key.
using SettingValues = std::map<std::string, SettingValue, std::less<>>;

/// One setting of an action. Actions that share a key share one declaration (a function that makes it).
struct ActionSetting {
  enum class Type { toggle, integer, real, reals, name, file };

  std::string_view key, metavar, help;  ///< metavar empty: a toggle
  Type type = Type::real;
  SettingValue initial = {};
  double above = -std::numeric_limits<double>::infinity(), below = std::numeric_limits<double>::infinity();  ///< open range of numbers
  std::vector<std::string_view> names = {};   ///< what a name may be; of a real: words that may stand in its place
  std::string_view instead_of = {};           ///< key that says the same in another way: one of the two is given
  bool makes_links = false;                   ///< of links that are made of a configuration, not of links from files
  void (*implies)(SettingValues&) = nullptr;  ///< gives the settings that say the same their values
};

/// As restart files and messages write it: reals with all digits.
std::string value_text(const SettingValue& value);

}  // namespace quarkstar
