#pragma once
// Copies of rectangles of sites between padded blocks, faces included: what a border is made of.
#include "codelets/gauge/smear/padded_shape.hpp"

namespace quarkstar::smear {

/// extents: of the rectangle. Origins count from the first site inside the border of either side. Source and target may be one array
/// if the rectangles do not meet.
struct BoxCopy {
  PaddedShape to_shape, from_shape;
  Coord to_origin, from_origin, extents;

  QUARKSTAR_HD std::int64_t rows() const { return volume(extents) / extents[0]; }

  /// Copies one real of one site: number `real` (0..71) of the site x of a row along x.
  QUARKSTAR_HD void copy(double* to, const double* from, std::int64_t row, int real, int x) const {
    to[offset(to_shape, to_origin, row) + real * to_shape.strides().real + x] =
        from[offset(from_shape, from_origin, row) + real * from_shape.strides().real + x];
  }

 private:
  QUARKSTAR_HD std::ptrdiff_t offset(const PaddedShape& shape, const Coord& origin, std::int64_t row) const {
    const Coord start = coordinates(row, Coord{1, extents[1], extents[2], extents[3]});
    return shape.offset({origin[0], origin[1] + start[1], origin[2] + start[2], origin[3] + start[3]});
  }
};

}  // namespace quarkstar::smear
