#include "codelets/lattice/boundary_text.hpp"

#include <fmt/format.h>

namespace quarkstar {

std::string boundary_text(const BoundaryAngles& angles) {
  std::string text;
  for (std::size_t mu = 0; mu < 4; ++mu) {
    const double angle = angles[mu];
    const std::string condition = angle == 0 ? "periodic" : angle == 1 ? "antiperiodic" : fmt::format("{}", angle);
    text += fmt::format("{}{}={}", mu > 0 ? "," : "", "xyzt"[mu], condition);
  }
  return text;
}

}  // namespace quarkstar
