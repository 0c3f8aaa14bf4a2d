#pragma once
#include "runtime/cut/coord.hpp"

#include <string>

namespace quarkstar {

/// The configuration that was solved on. Plaquettes and link trace are mean Re tr / 3; not a number for fat and long links from files,
/// whose second file is long_path.
struct GaugeSummary {
  std::string path, format;
  Coord extents{};
  double spatial_plaquette = 0, temporal_plaquette = 0, link_trace = 0;
  double place_sum = 0;  ///< gauge::place_sum(): tells apart what the others do not, shifted configurations
  std::string long_path = {};
  bool reunitarized = false;
};

}  // namespace quarkstar
