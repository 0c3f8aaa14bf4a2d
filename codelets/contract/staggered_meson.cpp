#include "codelets/contract/staggered_meson.hpp"

#include "runtime/error.hpp"

namespace quarkstar {
namespace {

double sign(int exponent) { return exponent % 2 == 0 ? 1 : -1; }

double phase_of(StaggeredMeson meson, const Coord& x) {
  switch (meson) {
    case StaggeredMeson::pion5:
      return 1;
    case StaggeredMeson::pion05:
      return sign(x[0] + x[1] + x[2]);
    case StaggeredMeson::rho_x:
      return sign(x[0]);
    case StaggeredMeson::rho_y:
      return sign(x[1]);
    case StaggeredMeson::rho_z:
      return sign(x[2]);
    case StaggeredMeson::rho:
      return (sign(x[0]) + sign(x[1]) + sign(x[2])) / 3;
  }
  return 0;
}

}  // namespace

std::string_view name_of(StaggeredMeson meson) {
  constexpr std::string_view names[] = {"pion5", "pion05", "rho_x", "rho_y", "rho_z", "rho"};
  return names[static_cast<int>(meson)];
}

std::vector<double> staggered_correlator(StaggeredMeson meson, std::span<const HostColour> columns, int source_time) {
  if (columns.size() != HostColour::components) throw ShapeError("staggered_correlator", "a propagator has three columns");
  for (const HostColour& column : columns)
    if (column.extents != columns.front().extents) throw ShapeError("staggered_correlator", "columns have different extents");
  const Coord& extents = columns.front().extents;
  const int times = extents[3];
  const std::int64_t slice = volume(extents) / times;
  std::vector<double> correlator(static_cast<std::size_t>(times));
  for (int t = 0; t < times; ++t) {
    const std::int64_t begin = slice * ((t + source_time) % times);
    double sum = 0;
    for (std::int64_t site = begin; site < begin + slice; ++site) {
      double square = 0;
      for (const HostColour& column : columns)
        for (int c = 0; c < 3; ++c) square += std::norm(column.at(site, c));
      sum += phase_of(meson, coordinates(site, extents)) * square;
    }
    correlator[static_cast<std::size_t>(t)] = sum;
  }
  return correlator;
}

}  // namespace quarkstar
