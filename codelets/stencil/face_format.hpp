#pragma once
#include "codelets/field/precision.hpp"

namespace quarkstar {

/// What a hop needs of a neighbour's vector: so many reals. A cut changes no bit: what the neighbour makes of its vector goes unrounded,
/// and the vector itself as the field stores it. In half precision the former are sums of two stored integers, of 17 bits, times one unit:
/// at most 32 upper bits lie in a word of their own.
struct FaceFormat {
  int reals;
  bool as_stored;
  /// Per site.
  constexpr std::size_t bytes(Precision precision) const {
    if (precision == Precision::half) return site_bytes(precision, reals) + (as_stored ? 0 : 4);
    return static_cast<std::size_t>(reals) * computed_bytes(precision);
  }
};

}  // namespace quarkstar
