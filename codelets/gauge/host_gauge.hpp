#pragma once
// A gauge configuration as files see it: whole lattice (or a box of it), lexicographic, double precision, plain host memory.
#include "runtime/cut/coord.hpp"
#include "runtime/system/large_array.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace quarkstar {

using HostReals = runtime::LargeArray<double>;

/// Gauge links U_mu(x) of a whole lattice, or of a box of sites that may reach over the lattice's edges: data[((site*4 + mu)*9 + 3*row +
/// col)*2 + {re,im}], mu = x,y,z,t.
struct HostGauge {
  static constexpr int reals_per_site = 4 * 18;
  Coord extents{};
  HostReals data;
  Coord origin{};  ///< of the box; extents are its own

  Box box() const { return {origin, extents}; }

  std::span<double, 18> link(std::int64_t site, int mu) { return std::span<double, 18>(data.data() + (site * 4 + mu) * 18, 18); }
  std::span<const double, 18> link(std::int64_t site, int mu) const {
    return std::span<const double, 18>(data.data() + (site * 4 + mu) * 18, 18);
  }
};

}  // namespace quarkstar
