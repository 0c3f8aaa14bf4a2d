#include "codelets/lattice/format/date.hpp"

#include <array>
#include <ctime>

namespace quarkstar::format {

std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  if (::gmtime_r(&now, &parts) == nullptr || ::asctime_r(&parts, text.data()) == nullptr) return "unknown";
  return std::string(text.data()).substr(0, 24);
}

}  // namespace quarkstar::format
