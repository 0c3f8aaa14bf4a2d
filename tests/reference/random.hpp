#pragma once
// Random numbers that are the same on every machine: the standard fixes std::mt19937_64 but not its distributions.
#include "tests/reference/linalg.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace quarkstar::reference {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in (0, 1].
  double uniform() { return (static_cast<double>(engine_() >> 11) + 1.0) * 0x1p-53; }

  /// Complex normal, <|z|^2> = 2 (Box-Muller).
  Complex normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return std::polar(radius, 2.0 * std::numbers::pi * uniform());
  }

  Matrix<3> normal_matrix() {
    Matrix<3> matrix;
    for (Complex& entry : matrix.entries) entry = normal();
    return matrix;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace quarkstar::reference
