#pragma once
// The links of a block and its border in memory: plain numbers and how to read them, for host and GPU alike.
#include "codelets/su3/matrix.hpp"
#include "runtime/cut/coord.hpp"

namespace quarkstar::gauge {

using site::Link;

/// Distances in memory, in reals, between the parts of a block.
struct LinkStrides {
  std::ptrdiff_t step[4];  ///< a step in each direction
  std::ptrdiff_t real;     ///< the next real of a link
  std::ptrdiff_t link;     ///< the link in the next direction
};

/// Four links per site, double precision, for a rectangle of sites and a border around it, depth[mu] sites on either side. In rows along x:
/// [t][z][y][mu][real 0..17][x]. A step in any direction is thus a constant distance in memory, a vector of sites is contiguous, and
/// the reals of a row of links share a few pages.
struct LinkShape {
  static constexpr int link_reals = 18;
  static constexpr int site_reals = 4 * link_reals;

  Coord extents{};  ///< without the border
  Coord depth{};
  int links = 4;  ///< per site; less in faces

  QUARKSTAR_HD int padded(int mu) const { return extents[mu] + 2 * depth[mu]; }
  QUARKSTAR_HD LinkStrides strides() const {
    const std::ptrdiff_t real = padded(0), y = real * links * link_reals, z = y * padded(1), t = z * padded(2);
    return {{1, y, z, t}, real, real * link_reals};
  }
  QUARKSTAR_HD std::size_t reals() const { return static_cast<std::size_t>(strides().step[3]) * static_cast<std::size_t>(padded(3)); }

  /// Offset of the first real of U_0(x); x counts from the first site inside the border, so it may be negative.
  QUARKSTAR_HD std::ptrdiff_t offset(const Coord& x) const {
    const LinkStrides s = strides();
    std::ptrdiff_t sum = 0;
    for (int mu = 0; mu < 4; ++mu) sum += (x[mu] + depth[mu]) * s.step[mu];
    return sum;
  }

  /// Rows of sites inside the border, and the coordinates of the first site of one.
  QUARKSTAR_HD std::int64_t rows() const { return volume(extents) / extents[0]; }
  QUARKSTAR_HD Coord row_start(std::int64_t row) const { return coordinates(row, Coord{1, extents[1], extents[2], extents[3]}); }
};

/// A copy of a rectangle of sites between blocks, faces included: what a border is made of. Origins count from the first site inside the
/// border of either side. Source and target may be one array if the rectangles do not meet.
struct BoxCopy {
  LinkShape to_shape, from_shape;
  Coord to_origin, from_origin, extents;
  int to_real, from_real, reals;  ///< which of a site: so many from these on

  QUARKSTAR_HD std::int64_t rows() const { return volume(extents) / extents[0]; }

  /// Coordinates of the first site of a row along x, counted from the origins.
  QUARKSTAR_HD Coord row_start(std::int64_t row) const { return coordinates(row, Coord{1, extents[1], extents[2], extents[3]}); }

  /// Copies N sites of the row, or all, from `start` on.
  template <int N>
  QUARKSTAR_HD void copy(double* to, const double* from, const Coord& start) const {
    const std::ptrdiff_t to_step = to_shape.padded(0), from_step = from_shape.padded(0);
    const int count = N > 0 ? N : extents[0];
    to += at(to_shape, to_origin, start) + to_real * to_step;
    from += at(from_shape, from_origin, start) + from_real * from_step;
    for (int real = 0; real < reals; ++real, to += to_step, from += from_step)
      for (int x = 0; x < count; ++x) to[x] = from[x];
  }

 private:
  QUARKSTAR_HD static std::ptrdiff_t at(const LinkShape& shape, const Coord& origin, const Coord& start) {
    return shape.offset({origin[0] + start[0], origin[1] + start[1], origin[2] + start[2], origin[3] + start[3]});
  }
};

/// The links around offsets p in a block's memory, as packs of sites of a row: neighbours, or for plain doubles every other one, which are
/// of one parity.
template <class V>
class StridedLinks {
 public:
  QUARKSTAR_HD StridedLinks(const double* links, const LinkStrides& strides) : links_(links), strides_(strides) {}
  QUARKSTAR_HD std::ptrdiff_t stride(int nu) const { return strides_.step[nu]; }
  QUARKSTAR_HD static V constant(double number) {
    if constexpr (site::RoundsProducts<V>) return number - V{};
    else return V::broadcast(number);
  }

  /// U_nu(p).
  QUARKSTAR_HD Link<V> load(std::ptrdiff_t p, int nu) const { return load_step(p, nu, true); }

  /// U_nu(p) for a step forward, U_nu^+(p - nu) for a step backward. One code for both, with other strides of rows and columns
  /// and a sign: what is built on it would otherwise be doubled at every level of the detours.
  QUARKSTAR_HD Link<V> load_step(std::ptrdiff_t p, int nu, bool forward) const {
    const double* at = links_ + (forward ? p : p - strides_.step[nu]) + nu * strides_.link;
    const std::ptrdiff_t row = (forward ? 6 : 2) * strides_.real, column = (forward ? 2 : 6) * strides_.real;
    const V sign = constant(forward ? 1 : -1);
    return site::link_of<V>([&](auto i, auto j) QUARKSTAR_INLINE_LAMBDA {
      const double* re = at + i * row + j * column;
      return site::Complex<V>{pack_at(re), sign * pack_at(re + strides_.real)};
    });
  }

 private:
  QUARKSTAR_HD static V pack_at(const double* reals) {
    if constexpr (std::is_same_v<V, double>) return *reals;
    else if constexpr (site::RoundsProducts<V>) {
      V pack;
      for (std::size_t lane = 0; lane < sizeof(V) / sizeof(double); ++lane) pack[lane] = reals[2 * lane];
      return pack;
    } else return V::load(reals);
  }

  const double* links_;
  const LinkStrides& strides_;
};

}  // namespace quarkstar::gauge
