#pragma once
// Boxes of sites of a periodic lattice, which may reach over its edges.
#include "runtime/cut/coord.hpp"

#include <span>
#include <vector>

namespace quarkstar {

/// Whether a box has a site, which may lie over an edge of the lattice, too. inside: its coordinates from the box's origin.
constexpr bool find_in(const Box& box, const Coord& site, const Coord& lattice, Coord& inside) {
  bool has = true;
  for (int mu = 0; mu < 4; ++mu) {
    inside[mu] = ((site[mu] - box.origin[mu]) % lattice[mu] + lattice[mu]) % lattice[mu];
    has = has && inside[mu] < box.extents[mu];
  }
  return has;
}

constexpr bool contains(const Box& box, const Coord& site, const Coord& lattice) {
  Coord inside{};
  return find_in(box, site, lattice, inside);
}

/// Whether a box has all sites of another. False for one that is larger than the lattice.
constexpr bool contains(const Box& box, const Box& inner, const Coord& lattice) {
  for (int mu = 0; mu < 4; ++mu) {
    if (box.extents[mu] > lattice[mu]) return false;
    const int before = (inner.origin[mu] - box.origin[mu] + lattice[mu]) % lattice[mu];
    if (box.extents[mu] < lattice[mu] && before + inner.extents[mu] > box.extents[mu]) return false;
  }
  return true;
}

/// A part of the lattice with layers before and behind it in every direction of which it is not all; corners are in. Where that makes all
/// of a direction, the box begins at 0 there.
Box with_border(const Box& part, const Coord& lattice, int before, int behind);

/// The sites of a box that a part of it has not: boxes that do not meet.
std::vector<Box> border_of(const Box& box, const Box& part, const Coord& lattice);

/// The sites of boxes as boxes inside the lattice.
std::vector<Box> folded(std::span<const Box> boxes, const Coord& lattice);

}  // namespace quarkstar
