#pragma once

namespace quarkstar::clover {

/// Factors of sigma_munu F_munu in planes of two directions of space, and of one and time.
struct PlaneWeights {
  double space = 1, time = 1;
};

}  // namespace quarkstar::clover
