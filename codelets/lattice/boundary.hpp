#pragma once
#include <array>

namespace quarkstar {

/// Fermion boundary condition: psi(x + L_mu) = e^{i pi theta_mu} psi(x); theta in units of pi, one a direction (x, y, z, t).
using BoundaryAngles = std::array<double, 4>;
inline constexpr BoundaryAngles periodic{0, 0, 0, 0};
inline constexpr BoundaryAngles antiperiodic_in_time{0, 0, 0, 1};

}  // namespace quarkstar
