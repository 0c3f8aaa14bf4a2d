#pragma once
// Four-dimensional lattice coordinates and their lexicographic order.
#include <array>
#include <cstdint>

namespace quarkstar {

/// Lattice extents or coordinates (x, y, z, t); x runs fastest in every lexicographic order.
using Coord = std::array<int, 4>;

/// A rectangle of sites of a lattice.
struct Box {
  Coord origin{}, extents{};
  constexpr Box() = default;
  constexpr Box(const Coord& first, const Coord& size) : origin(first), extents(size) {}  // four numbers alone are a Coord
};

/// The sites that two boxes share; an extent of 0 where there are none.
constexpr Box common(const Box& a, const Box& b) {
  Box both;
  for (int mu = 0; mu < 4; ++mu) {
    const int a_end = a.origin[mu] + a.extents[mu], b_end = b.origin[mu] + b.extents[mu];
    both.origin[mu] = a.origin[mu] > b.origin[mu] ? a.origin[mu] : b.origin[mu];
    const int extent = (a_end < b_end ? a_end : b_end) - both.origin[mu];
    both.extents[mu] = extent > 0 ? extent : 0;
  }
  return both;
}

/// Number of sites, 64 bit.
constexpr std::int64_t volume(const Coord& extents) { return std::int64_t{extents[0]} * extents[1] * extents[2] * extents[3]; }

/// Lexicographic site index x + X (y + Y (z + Z t)).
constexpr std::int64_t lexicographic(const Coord& site, const Coord& extents) {
  return site[0] + std::int64_t{extents[0]} * (site[1] + std::int64_t{extents[1]} * (site[2] + std::int64_t{extents[2]} * site[3]));
}

/// Inverse of lexicographic().
constexpr Coord coordinates(std::int64_t index, const Coord& extents) {
  Coord site{};
  for (int mu = 0; mu < 4; ++mu) {
    site[mu] = static_cast<int>(index % extents[mu]);
    index /= extents[mu];
  }
  return site;
}

/// The index-th site of a box, in coordinates of the lattice.
constexpr Coord site_of(const Box& box, std::int64_t index) {
  Coord site = coordinates(index, box.extents);
  for (int mu = 0; mu < 4; ++mu) site[mu] += box.origin[mu];
  return site;
}

/// Position of a site of the whole lattice among the sites of a box, lexicographic; the lattice is periodic.
constexpr std::int64_t index_in(const Box& box, const Coord& site, const Coord& lattice) {
  Coord inside{};
  for (int mu = 0; mu < 4; ++mu) inside[mu] = (site[mu] - box.origin[mu] + lattice[mu]) % lattice[mu];
  return lexicographic(inside, box.extents);
}

/// Parity (x + y + z + t) mod 2 of global coordinates: 0 even, 1 odd.
constexpr int parity_of(const Coord& site) { return (site[0] + site[1] + site[2] + site[3]) & 1; }

}  // namespace quarkstar
