#pragma once
#include "codelets/lattice/boundary.hpp"

#include <string>

namespace quarkstar {

/// "x=periodic,y=periodic,z=0.5,t=antiperiodic": angles in units of pi.
std::string boundary_text(const BoundaryAngles& angles);

}  // namespace quarkstar
