#pragma once
// Steps on the periodic lattice, parity, and the phases of the fermion's boundary.
#include "codelets/gauge/host_gauge.hpp"
#include "tests/reference/linalg.hpp"

#include <complex>
#include <cstdint>

namespace quarkstar::reference {

/// (x + y + z + t) & 1: 0 even, 1 odd.
inline int parity(const Coord& x) { return (x[0] + x[1] + x[2] + x[3]) & 1; }

/// The coordinates x + distance * mu-hat on the torus.
inline Coord step(Coord x, int mu, int distance, const Coord& extents) {
  const int length = extents[mu];
  x[mu] = ((x[mu] + distance) % length + length) % length;
  return x;
}

/// Factor e^{i theta_mu} that psi picks up per direction on crossing the boundary forward; default: periodic in space,
/// antiperiodic in time.
struct Boundary {
  std::array<Complex, 4> phase{1.0, 1.0, 1.0, -1.0};

  static Boundary periodic() { return {{1.0, 1.0, 1.0, 1.0}}; }
  static Boundary antiperiodic_t() { return {}; }
  static Boundary twisted(const std::array<double, 4>& theta) {
    Boundary boundary;
    for (int mu = 0; mu < 4; ++mu) boundary.phase[mu] = std::polar(1.0, theta[mu]);
    return boundary;
  }

  /// Factor of the hop psi(x + mu-hat) at x: e^{i theta_mu} where it crosses, else 1.
  Complex forward(const Coord& x, int mu, const Coord& extents) const { return x[mu] == extents[mu] - 1 ? phase[mu] : Complex{1.0}; }
  /// Factor of the hop psi(x - mu-hat) at x: e^{-i theta_mu} where it crosses, else 1.
  Complex backward(const Coord& x, int mu) const { return x[mu] == 0 ? std::conj(phase[mu]) : Complex{1.0}; }
};

}  // namespace quarkstar::reference
