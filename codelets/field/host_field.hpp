#pragma once
// A fermion field as sources, files and contractions see it: whole lattice (or a box of it), lexicographic, double precision, host memory.
#include "runtime/cut/coord.hpp"

#include <complex>
#include <cstdint>
#include <vector>

namespace quarkstar {

/// Complex numbers of one vector at a site: of a spinor (DeGrand-Rossi basis; 3 spin + colour) and of a colour vector.
inline constexpr int spinor_components = 12, colour_components = 3;

/// psi(x): data[site * components + component], of a spinor data[(site * 4 + spin) * 3 + colour].
struct HostField {
  int components = 0;
  Coord extents{};
  std::vector<std::complex<double>> data;
  Coord origin{};  ///< of the box; extents are its own

  HostField() = default;
  HostField(int components_of_site, const Box& box)
      : components(components_of_site),
        extents(box.extents),
        data(static_cast<std::size_t>(volume(box.extents) * components_of_site)),
        origin(box.origin) {}
  HostField(int components_of_site, const Coord& lattice) : HostField(components_of_site, Box{{0, 0, 0, 0}, lattice}) {}

  Box box() const { return {origin, extents}; }
  std::complex<double>& at(std::int64_t site, int component) { return data[static_cast<std::size_t>(site * components + component)]; }
  const std::complex<double>& at(std::int64_t site, int component) const {
    return data[static_cast<std::size_t>(site * components + component)];
  }
  /// Of a spinor.
  std::complex<double>& at(std::int64_t site, int spin, int colour) { return at(site, 3 * spin + colour); }
  const std::complex<double>& at(std::int64_t site, int spin, int colour) const { return at(site, 3 * spin + colour); }
};

}  // namespace quarkstar
