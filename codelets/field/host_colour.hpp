#pragma once
// One staggered fermion field as sources, files and contractions see it: whole lattice (or a box of it), lexicographic,
// double precision.
#include "runtime/cut/coord.hpp"

#include <complex>
#include <cstdint>
#include <vector>

namespace quarkstar {

/// chi(x): data[site*3 + colour].
struct HostColour {
  static constexpr int components = 3;
  Coord extents{};
  std::vector<std::complex<double>> data;
  Coord origin{};  ///< of the box; extents are its own

  explicit HostColour(const Coord& lattice = {0, 0, 0, 0})
      : extents(lattice), data(static_cast<std::size_t>(volume(lattice) * components)) {}
  explicit HostColour(const Box& box) : HostColour(box.extents) { origin = box.origin; }

  Box box() const { return {origin, extents}; }
  std::complex<double>& at(std::int64_t site, int colour) { return data[static_cast<std::size_t>(site * 3 + colour)]; }
  const std::complex<double>& at(std::int64_t site, int colour) const { return data[static_cast<std::size_t>(site * 3 + colour)]; }
};

}  // namespace quarkstar
