#include "apps/run/start_patience.hpp"

#include "apps/run/parse.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace quarkstar::app {
namespace {

/// The value of the last such flag.
std::optional<std::chrono::seconds> seconds_of(const std::vector<std::string>& arguments, std::string_view flag, int least) {
  std::string_view value;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view text = arguments[i];
    if (text == flag && i + 1 < arguments.size()) value = arguments[i + 1];
    if (text.starts_with(flag) && text.substr(flag.size()).starts_with('=')) value = text.substr(flag.size() + 1);
  }
  try {
    if (!value.empty()) return std::chrono::seconds(parse_integer(value, least));
  } catch (const BadValue&) {  // the parser's to say
  }
  return std::nullopt;
}

}  // namespace

runtime::Patience start_patience(const std::vector<std::string>& arguments) {
  runtime::Patience patience;
  if (const auto seconds = seconds_of(arguments, "--watchdog", 0)) patience.idle = *seconds;
  const bool tests = !arguments.empty() && arguments.front() == "machine" &&
                     std::find(arguments.begin(), arguments.end(), "--self-test") != arguments.end();
  constexpr std::chrono::seconds usual_limit{30};
  if (tests) patience.silent = seconds_of(arguments, "--limit", 1).value_or(usual_limit);
  if (tests) patience.remedy = "or raise --limit";
  else if (!arguments.empty() && arguments.front() == "solve") patience.remedy = "restart from the last checkpoint, or raise --watchdog";
  else patience.remedy = "and start it again";
  return patience;
}

}  // namespace quarkstar::app
