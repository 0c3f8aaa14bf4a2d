#pragma once
// What an update of links reads and writes: the contract between the codelet and the drivers of CPU and GPU.
#include "codelets/gauge/gauge_field.hpp"
#include "codelets/gauge/heatbath/link_update.hpp"
#include "codelets/gauge/staple.hpp"
#include "codelets/lattice/random.hpp"

#include <cstdint>

namespace quarkstar::heatbath {

/// An update of the links of direction mu on the sites of one parity of a block.
struct UpdateArguments {
  gauge::LinkShape shape;
  Coord origin, lattice;
  int mu, parity;
  double beta;
  std::uint64_t seed;
  std::uint64_t sweep;
  int faces_before;
  gauge::BorderCopies before, behind;  ///< of the previous update's borders, and of its own

  /// x of the first site of that parity in a row that begins at `start`, and the index of the row's first site in the lattice.
  struct Row {
    int first_x;
    std::int64_t first_site;
  };
  QUARKSTAR_HD Row row(const Coord& start) const {
    Coord x = origin;
    for (int nu = 1; nu < 4; ++nu) x[nu] += start[nu];
    return {(parity + parity_of(x)) & 1, lexicographic(x, lattice)};
  }
};

struct HeatbathUpdate {
  static QUARKSTAR_HD void apply(const UpdateArguments& a, Matrix& u, const Matrix& staple, std::int64_t site) {
    heatbath_link(u, staple, a.beta, [&a, site](int subgroup) QUARKSTAR_INLINE_LAMBDA {
      const std::uint64_t index = (a.sweep * 4 + static_cast<std::uint64_t>(a.mu)) * 3 + static_cast<std::uint64_t>(subgroup);
      return RandomStream(a.seed, RandomPurpose::heatbath, site, index);
    });
  }
};

struct OverrelaxationUpdate {
  static QUARKSTAR_HD void apply(const UpdateArguments&, Matrix& u, const Matrix& staple, std::int64_t) { overrelax_link(u, staple); }
};

}  // namespace quarkstar::heatbath
