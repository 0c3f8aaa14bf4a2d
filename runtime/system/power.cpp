#include "runtime/system/power.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace quarkstar::runtime {
namespace {

[[noreturn]] void refuse(const std::string& where, std::string_view part, const char* what) {
  throw Error(ErrorKind::input, where, fmt::format("'{}' {}", part, what),
              "give watts as cpu=IDLE:BUSY,cuda=IDLE:BUSY,host=WATTS, e.g. cpu=60:250,cuda=75:500,host=100");
}

double watts_of(const std::string& where, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr double most = 1e6;
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || value > most)
    refuse(where, text, "is no number of watts");
  return value;
}

}  // namespace

MachinePower parse_power(std::string_view text, const std::string& where) {
  MachinePower power;
  power.origin = "given";
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('='), colon = part.find(':');
    if (equals == part.npos) refuse(where, part, "names no device");
    const std::string_view name = part.substr(0, equals), value = part.substr(equals + 1);
    if (name == "host") {
      power.host = watts_of(where, value);
      continue;
    }
    PowerDraw* draw = name == "cpu" ? &power.cpu : name == "cuda" ? &power.cuda : nullptr;
    if (draw == nullptr) refuse(where, part, "names no device");
    if (colon == part.npos) refuse(where, part, "has no watts of a busy device");
    *draw = {watts_of(where, part.substr(equals + 1, colon - equals - 1)), watts_of(where, part.substr(colon + 1))};
    if (draw->busy < draw->idle) refuse(where, part, "draws less when it is busy");
  }
  return power;
}

}  // namespace quarkstar::runtime
