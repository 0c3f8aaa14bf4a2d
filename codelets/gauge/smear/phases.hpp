#pragma once
#include "runtime/cut/coord.hpp"

namespace quarkstar::smear {

/// MILC's staggered phases of global coordinates: eta_x = (-1)^t, eta_y = (-1)^(t+x), eta_z = (-1)^(t+x+y), eta_t = 1.
constexpr double staggered_phase(const Coord& x, int mu) {
  const int exponent[] = {x[3], x[3] + x[0], x[3] + x[0] + x[1], 0};
  return exponent[mu] % 2 == 0 ? 1.0 : -1.0;
}

}  // namespace quarkstar::smear
