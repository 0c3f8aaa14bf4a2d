#pragma once
#include "codelets/field/field.hpp"

#include <cstdint>

namespace quarkstar {

/// Submits: field <- normal numbers, mean 0 and variance 1 of each real and imaginary part, a function of seed, global site, slice,
/// component and number of the vector: the same on every device, for every cut, layout and number of ranks, rounded to the field's
/// precision. first: the number of the first vector among all that are drawn with this seed. Cost: a group of a RandomStream for every two
/// components. Throws ShapeError for fields in half precision, or of coarse vectors. On all sites it takes as much memory again.
void write_noise(const Field& field, std::uint64_t seed, std::uint64_t first);

}  // namespace quarkstar
