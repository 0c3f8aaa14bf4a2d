#pragma once
// A spinor field as sources, files and contractions see it: whole lattice (or a box of it), lexicographic, double precision, host memory.
#include "runtime/cut/coord.hpp"

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace quarkstar {

/// psi(x): data[(site*4 + spin)*3 + colour], DeGrand-Rossi basis.
struct HostSpinor {
  static constexpr int components = 12;
  Coord extents{};
  std::vector<std::complex<double>> data;
  Coord origin{};  ///< of the box; extents are its own

  explicit HostSpinor(const Coord& lattice = {0, 0, 0, 0})
      : extents(lattice), data(static_cast<std::size_t>(volume(lattice) * components)) {}
  explicit HostSpinor(const Box& box) : HostSpinor(box.extents) { origin = box.origin; }

  Box box() const { return {origin, extents}; }
  std::complex<double>& at(std::int64_t site, int spin, int colour) {
    return data[static_cast<std::size_t>((site * 4 + spin) * 3 + colour)];
  }
  const std::complex<double>& at(std::int64_t site, int spin, int colour) const {
    return data[static_cast<std::size_t>((site * 4 + spin) * 3 + colour)];
  }
};

}  // namespace quarkstar
