#pragma once
#include "codelets/field/precision.hpp"

namespace quarkstar {

/// What a hop needs of a neighbour's vector: so many reals. A cut changes no bit: what the neighbour makes of its vector goes unrounded, as
/// it is computed with, and the vector itself as the field stores it.
struct FaceFormat {
  int reals;
  bool as_stored;
  /// Per site.
  constexpr std::size_t bytes(Precision precision) const {
    return as_stored ? site_bytes(precision, reals) : static_cast<std::size_t>(reals) * computed_bytes(precision);
  }
};

}  // namespace quarkstar
