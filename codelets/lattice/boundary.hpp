#pragma once
#include "codelets/lattice/portable.hpp"

#include <array>
#include <cmath>
#include <complex>

namespace quarkstar {

/// Fermion boundary condition: psi(x + L_mu) = e^{i pi theta_mu} psi(x); theta in units of pi, one a direction (x, y,
/// z, t).
using BoundaryAngles = std::array<double, 4>;
inline constexpr BoundaryAngles periodic{0, 0, 0, 0};
inline constexpr BoundaryAngles antiperiodic_in_time{0, 0, 0, 1};

/// e^{i pi theta}, exact at multiples of 1/2 so that antiperiodic means -1 to the last bit, and the same on every
/// processor. theta: finite.
inline std::complex<double> boundary_phase(double theta) {
  const auto [sine, cosine] = portable::sine_cosine_of_turns(std::fmod(theta, 2) / 2);
  return {cosine, sine};
}

}  // namespace quarkstar
