#include "codelets/lattice/format/date.hpp"

#include <array>
#include <cstdlib>
#include <ctime>

namespace quarkstar::format {

std::string utc_date() {
  const char* given = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now = given != nullptr ? static_cast<std::time_t>(std::strtoll(given, nullptr, 10)) : std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  if (::gmtime_r(&now, &parts) == nullptr || ::asctime_r(&parts, text.data()) == nullptr) return "unknown";
  return std::string(text.data()).substr(0, 24);
}

}  // namespace quarkstar::format
