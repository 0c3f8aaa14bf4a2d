#pragma once
#include <cstddef>
#include <string_view>

namespace quarkstar {

/// Number format of a field. Arithmetic is in the same format; `half` computes in single precision (codelets/field/number_format.hpp).
enum class Precision { half, single, double_ };

constexpr std::string_view name_of(Precision precision) {
  return precision == Precision::half ? "half" : precision == Precision::single ? "single" : "double";
}

/// Bytes of a stored real of a gauge link.
constexpr std::size_t bytes_of(Precision precision) { return precision == Precision::half ? 2 : precision == Precision::single ? 4 : 8; }

/// Bytes that a site of `reals` reals takes in a field: in half precision 16 bits each and one 32-bit unit per site.
constexpr std::size_t site_bytes(Precision precision, int reals) {
  return static_cast<std::size_t>(reals) * bytes_of(precision) + (precision == Precision::half ? 4 : 0);
}

/// Bytes that a link of `reals` reals takes: in half precision whole 32-bit words.
constexpr std::size_t link_bytes(Precision precision, int reals) {
  return static_cast<std::size_t>(precision == Precision::half ? reals + reals % 2 : reals) * bytes_of(precision);
}

/// Bytes per site of links of `reals` reals, each of which is stored at both of its ends.
constexpr double links_bytes(Precision precision, int reals) { return 8 * static_cast<double>(link_bytes(precision, reals)); }

/// Bytes of a real while it is computed with.
constexpr std::size_t computed_bytes(Precision precision) { return precision == Precision::double_ ? 8 : 4; }

}  // namespace quarkstar
