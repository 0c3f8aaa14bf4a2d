#pragma once
#include <cstdint>

namespace quarkstar {

/// Spinors lie in groups (codelets/field/field.hpp), each with the numbers of spins 0 and 1 in its first half, those of spins 2 and 3 in
/// its second, in every layout.
struct Gamma5Task {
  std::int64_t groups, half;  ///< numbers of half a group
  std::int64_t offset;        ///< of the first number in out
};

}  // namespace quarkstar
