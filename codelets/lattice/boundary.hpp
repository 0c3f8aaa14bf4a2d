#pragma once
#include <array>
#include <cmath>
#include <complex>

namespace quarkstar {

/// Fermion boundary condition: psi(x + L_mu) = e^{i pi theta_mu} psi(x); theta in units of pi, one a direction (x, y, z, t).
using BoundaryAngles = std::array<double, 4>;
inline constexpr BoundaryAngles periodic{0, 0, 0, 0};
inline constexpr BoundaryAngles antiperiodic_in_time{0, 0, 0, 1};

/// e^{i pi theta}, exact at multiples of 1/2 so that antiperiodic means -1 to the last bit.
inline std::complex<double> boundary_phase(double theta) {
  const double quarters = 2 * theta;
  if (quarters == std::nearbyint(quarters)) {
    const int q = static_cast<int>(std::fmod(std::fmod(quarters, 4) + 4, 4));
    constexpr double cosine[] = {1, 0, -1, 0}, sine[] = {0, 1, 0, -1};
    return {cosine[q], sine[q]};
  }
  return {std::cos(M_PI * theta), std::sin(M_PI * theta)};
}

}  // namespace quarkstar
