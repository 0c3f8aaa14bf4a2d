#pragma once
#include <cstdint>
#include <string_view>

namespace quarkstar::runtime {

/// What sort of work a codelet is, for those who add up times by it. Its name tells codelets of one kind apart.
enum class CodeletKind : std::uint8_t {
  other,
  stencil,  ///< reads neighbours
  pack,     ///< makes faces that neighbours read
  vector,   ///< linear combinations and products of vectors, site by site
  scalar,   ///< steps on a few numbers, and the sums that they need
  copy,     ///< takes data to another place, layout or precision
};

constexpr std::string_view name_of(CodeletKind kind) {
  constexpr std::string_view names[] = {"other", "stencil", "pack", "vector", "scalar", "copy"};
  return names[static_cast<int>(kind)];
}

}  // namespace quarkstar::runtime
