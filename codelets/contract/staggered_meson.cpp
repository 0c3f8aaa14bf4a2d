#include "codelets/contract/staggered_meson.hpp"

#include "codelets/contract/time_slices.hpp"
#include "runtime/system/error.hpp"

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

void check_shapes(std::span<const HostField> columns) {
  if (columns.size() != colour_components) throw ShapeError("staggered_correlator", "a propagator has three columns");
  for (const HostField& column : columns)
    if (column.extents != columns.front().extents) throw ShapeError("staggered_correlator", "columns have different extents");
}

}  // namespace

std::string_view name_of(StaggeredMeson meson) {
  constexpr std::string_view names[] = {"pion5", "pion05", "rho_x", "rho_y", "rho_z", "rho"};
  return names[static_cast<int>(meson)];
}

std::vector<runtime::BinnedSum> staggered_sums(StaggeredMeson meson, std::span<const HostField> columns, const Coord& origin, int times) {
  check_shapes(columns);
  const Box box = columns.front().box();
  return sum_time_slices(box, origin[3], times, [&](std::int64_t site) {
    double square = 0;
    for (const HostField& column : columns)
      for (int c = 0; c < 3; ++c) square += std::norm(column.at(site, c));
    Coord x = site_of(box, site);
    for (std::size_t mu = 0; mu < 4; ++mu) x[mu] -= origin[mu];
    return phase_of(meson, x) * square;
  });
}

std::vector<double> staggered_correlator(StaggeredMeson meson, std::span<const HostField> columns, const Coord& origin) {
  check_shapes(columns);
  return values_of(staggered_sums(meson, columns, origin, columns.front().extents[3]));
}

}  // namespace quarkstar
