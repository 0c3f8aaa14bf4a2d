#pragma once
#include <cstddef>
#include <string_view>

namespace quarkstar {

/// Number format of a field. Arithmetic is in the same format.
enum class Precision { single, double_ };

constexpr std::size_t bytes_of(Precision precision) { return precision == Precision::single ? 4 : 8; }
constexpr std::string_view name_of(Precision precision) { return precision == Precision::single ? "single" : "double"; }

}  // namespace quarkstar
