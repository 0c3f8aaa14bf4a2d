#pragma once
// Environment variables whose values are whole numbers.
#include <cstdint>
#include <limits>
#include <optional>

namespace quarkstar::runtime {

/// text: the value of that variable as std::getenv gives it. None where it is unset or empty. Throws Error(input) that names the variable
/// and its value where this is no whole number, from 0 to `most`.
std::optional<std::int64_t> number_in(const char* variable, const char* text, std::int64_t most = std::numeric_limits<std::int64_t>::max());

}  // namespace quarkstar::runtime
