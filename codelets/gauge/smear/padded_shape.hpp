#pragma once
// Where the links of a block with a border are stored: plain numbers, for host and GPU alike.
#include "runtime/cut/coord.hpp"
#include "runtime/gpu/host_device.hpp"

#include <cstddef>

namespace quarkstar::smear {

/// Distances in memory, in reals, between the parts of a padded block.
struct LinkStrides {
  std::ptrdiff_t step[4];  ///< a step in each direction
  std::ptrdiff_t real;     ///< the next real of a link
  std::ptrdiff_t link;     ///< the link in the next direction
};

/// Four links a site, double precision, for a rectangle of sites and a border of `depth` sites around it. In rows along x:
/// [t][z][y][mu][real 0..17][x]. A step in any direction is thus a constant distance in memory, a vector of sites is contiguous, and
/// the reals of a row of links share a few pages.
struct PaddedShape {
  static constexpr int link_reals = 18;
  static constexpr int site_reals = 4 * link_reals;

  Coord extents{};  ///< without the border
  int depth = 0;

  QUARKSTAR_HD int padded(int mu) const { return extents[mu] + 2 * depth; }
  QUARKSTAR_HD LinkStrides strides() const {
    const std::ptrdiff_t real = padded(0), y = real * site_reals, z = y * padded(1), t = z * padded(2);
    return {{1, y, z, t}, real, real * link_reals};
  }
  QUARKSTAR_HD std::size_t reals() const { return static_cast<std::size_t>(strides().step[3]) * static_cast<std::size_t>(padded(3)); }

  /// Offset of the first real of U_0(x); x counts from the first site inside the border, so it may be negative.
  QUARKSTAR_HD std::ptrdiff_t offset(const Coord& x) const {
    const LinkStrides s = strides();
    return (x[0] + depth) * s.step[0] + (x[1] + depth) * s.step[1] + (x[2] + depth) * s.step[2] + (x[3] + depth) * s.step[3];
  }

  /// Rows of sites inside the border, and the coordinates of the first site of one.
  QUARKSTAR_HD std::int64_t rows() const { return volume(extents) / extents[0]; }
  QUARKSTAR_HD Coord row_start(std::int64_t row) const { return coordinates(row, Coord{1, extents[1], extents[2], extents[3]}); }
};

}  // namespace quarkstar::smear
