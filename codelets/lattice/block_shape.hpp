#pragma once
// Where the sites of a block are stored: plain numbers, for host tables and GPU kernels alike.
#include "codelets/lattice/lane_grid.hpp"
#include "runtime/cut/coord.hpp"
#include "runtime/gpu/host_device.hpp"

namespace quarkstar {

/// Position of a site in storage.
struct SitePosition {
  int parity = 0;
  int outer = 0;  ///< outer site within the parity
  int lane = 0;
};

/// Outer sites are stored tile by tile, so that a site's neighbours are read again while they are still in a cache; tiles and the sites
/// of a tile in checkerboard order: x fastest, two x sites (one of each parity) share an index.
struct BlockShape {
  Coord outer{};   ///< extents of the outer lattice
  Coord tile{};    ///< extents of a tile; each divides the outer extent, tile[0] is even
  Coord stride{};  ///< LaneGrid::stride
  int lanes = 1;
  int origin_parity = 0;  ///< of the block's first site

  QUARKSTAR_HD int outer_sites() const { return static_cast<int>(volume(outer) / 2); }

  QUARKSTAR_HD int outer_index(const Coord& site) const {
    Coord inside{}, number{}, tiles{};
    for (int mu = 0; mu < 4; ++mu) {
      number[mu] = site[mu] / tile[mu];
      inside[mu] = site[mu] - number[mu] * tile[mu];
      tiles[mu] = outer[mu] / tile[mu];
    }
    return static_cast<int>((lexicographic(number, tiles) * volume(tile) + lexicographic(inside, tile)) / 2);
  }

  QUARKSTAR_HD Coord outer_coordinates(int parity, int index) const {
    Coord tiles{};
    for (int mu = 0; mu < 4; ++mu) tiles[mu] = outer[mu] / tile[mu];
    const int half_tile = static_cast<int>(volume(tile) / 2);
    const Coord number = coordinates(index / half_tile, tiles);
    Coord site = coordinates(std::int64_t{index % half_tile} * 2, tile);
    for (int mu = 0; mu < 4; ++mu) site[mu] += number[mu] * tile[mu];
    if (((parity_of(site) + origin_parity) & 1) != parity) site[0] += 1;
    return site;
  }

  /// Tiles of at most the wanted extents (0: no limit); the largest divisors. Blocks of one extent get the same tiles.
  QUARKSTAR_HD void set_tile(const Coord& wanted) {
    for (int mu = 0; mu < 4; ++mu) {
      const int unit = mu == 0 ? 2 : 1;  // an odd outer x extent is refused elsewhere
      tile[mu] = outer[mu];
      if (wanted[mu] <= 0) continue;
      for (int extent = wanted[mu] < outer[mu] ? wanted[mu] : outer[mu]; extent >= unit; --extent)
        if (outer[mu] % extent == 0 && extent % unit == 0) {
          tile[mu] = extent;
          break;
        }
    }
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
