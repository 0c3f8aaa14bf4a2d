#pragma once
#include "codelets/field/field.hpp"

#include <cstdint>

namespace quarkstar {

/// Loads normal numbers, a function of global sites, and waits for it. first: the number of the first vector among all that are drawn with
/// this seed.
void load_noise(const Field& field, std::uint64_t seed, std::uint64_t first);

}  // namespace quarkstar
