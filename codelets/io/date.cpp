#include "codelets/io/date.hpp"

#include "runtime/system/number_variable.hpp"

#include <array>
#include <cstdlib>
#include <ctime>

namespace quarkstar::format {

std::string utc_date() {
  const auto given = runtime::number_in("SOURCE_DATE_EPOCH", std::getenv("SOURCE_DATE_EPOCH"));
  const std::time_t now = given ? static_cast<std::time_t>(*given) : std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  if (::gmtime_r(&now, &parts) == nullptr || ::asctime_r(&parts, text.data()) == nullptr) return "unknown";
  return std::string(text.data()).substr(0, 24);
}

}  // namespace quarkstar::format
