#pragma once
// How blocks of a GPU march over the sites of hops with vectors or slices in lanes. The order of sites goes with it.
#include <cstdint>

namespace quarkstar::wilson {

/// Sites of a tile, which a block computes at a time: as many as fill a multiprocessor's registers with one block (128 for each thread, 255
/// in double precision), so that the sites in L1 are neighbours. in_lanes: vectors of a group, or slices.
constexpr int tile_sites(int in_lanes, bool is_double) { return (in_lanes == 8 ? 2 : 1) * (is_double ? 16 : 32); }

/// Tiles that a block marches over: 1, 2, 4, ... 32 (or with twice as many sites in one 16). A block waits for its first links, and reads
/// again what others have read around its first sites, which takes as long as some two tiles; and one block a multiprocessor runs at a
/// time, so that few marches must be left for the last time.
constexpr std::int64_t march_tiles(std::int64_t all_tiles, int in_lanes) {
  constexpr std::int64_t multiprocessors = 132, of_begin = 2;  // 132: an H100's and H200's
  const auto time = [&](std::int64_t tiles) {
    const std::int64_t marches = (all_tiles + tiles - 1) / tiles;
    return (marches + multiprocessors - 1) / multiprocessors * (tiles + of_begin);
  };
  std::int64_t best = 1;
  for (std::int64_t tiles = 2; tiles <= (in_lanes == 8 ? 16 : 32); tiles *= 2)
    if (time(tiles) < time(best)) best = tiles;
  return best;
}

}  // namespace quarkstar::wilson
