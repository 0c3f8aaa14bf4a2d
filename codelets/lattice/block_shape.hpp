#pragma once
// Where the sites of a block are stored: plain numbers, for host tables and GPU kernels alike.
#include "codelets/lattice/lane_grid.hpp"
#include "runtime/coord.hpp"
#include "runtime/host_device.hpp"

namespace quarkstar {

/// Position of a site in storage.
struct SitePosition {
  int parity = 0;
  int outer = 0;  ///< outer site within the parity
  int lane = 0;
};

/// Outer sites are in checkerboard order: x fastest, two x sites (one of each parity) share an index.
struct BlockShape {
  Coord outer{};          ///< extents of the outer lattice
  Coord stride{};         ///< LaneGrid::stride
  int lanes = 1;
  int origin_parity = 0;  ///< of the block's first site

  QUARKSTAR_HD int outer_sites() const { return static_cast<int>(volume(outer) / 2); }

  QUARKSTAR_HD int outer_index(const Coord& site) const { return static_cast<int>(lexicographic(site, outer) / 2); }

  QUARKSTAR_HD Coord outer_coordinates(int parity, int index) const {
    Coord site = coordinates(std::int64_t{index} * 2, outer);
    if (((parity_of(site) + origin_parity) & 1) != parity) site[0] += 1;
    return site;
  }

  /// local: coordinates within the block.
  QUARKSTAR_HD SitePosition locate(const Coord& local) const {
    SitePosition position;
    Coord site = local;
    for (int mu = 0; mu < 4; ++mu)
      if (site[mu] >= outer[mu]) {
        site[mu] -= outer[mu];
        position.lane += stride[mu];
      }
    position.parity = (parity_of(local) + origin_parity) & 1;
    position.outer = outer_index(site);
    return position;
  }

  QUARKSTAR_HD Coord local_site(const SitePosition& position) const {
    Coord site = outer_coordinates(position.parity, position.outer);
    for (int mu = 0; mu < 4; ++mu)
      if (stride[mu] != 0 && (position.lane & stride[mu]) != 0) site[mu] += outer[mu];
    return site;
  }
};

}  // namespace quarkstar
