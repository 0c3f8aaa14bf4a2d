#include "runtime/system/number_variable.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

namespace quarkstar::runtime {

std::optional<std::int64_t> number_in(const char* variable, const char* text, std::int64_t most) {
  if (text == nullptr || *text == 0) return {};
  const std::string_view digits(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc() && end == digits.data() + digits.size() && number >= 0 && number <= most) return number;
  const bool bounded = most < std::numeric_limits<std::int64_t>::max();
  throw Error(ErrorKind::input, std::string("$") + variable,
              fmt::format("'{}' is not a whole number{}", digits, bounded ? fmt::format(" from 0 to {}", most) : ""),
              "give one, or unset the variable");
}

}  // namespace quarkstar::runtime
