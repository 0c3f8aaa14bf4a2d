#include "runtime/mpi/rank_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/error.hpp"

namespace quarkstar::runtime::mpi {
namespace {

/// Sites that the largest part sends in one exchange, both ways along every cut direction; -1: the lattice cannot be cut that way.
std::int64_t surface(const Coord& lattice, const Coord& grid, int thinnest) {
  Coord part{};
  for (int mu = 0; mu < 4; ++mu) {
    const int least = mu == 0 ? 2 : 1;  // blocks are even along x
    if (grid[mu] * least > lattice[mu] || (grid[mu] > 1 && grid[mu] * thinnest > lattice[mu])) return -1;
    part[mu] = (lattice[mu] / least + grid[mu] - 1) / grid[mu] * least;
  }
  std::int64_t sites = 0;
  for (int mu = 0; mu < 4; ++mu)
    if (grid[mu] > 1) sites += 2 * volume(part) / part[mu];
  return sites;
}

}  // namespace

Coord choose_rank_grid(const Coord& lattice, int ranks, int thinnest) {
  std::int64_t least = -1;
  Coord best{};
  // x slowest and ascending: the first of equals cuts t most.
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (int y = 1; y <= ranks / x; ++y) {
      if (ranks / x % y != 0) continue;
      for (int z = 1; z <= ranks / x / y; ++z) {
        if (ranks / x / y % z != 0) continue;
        const Coord grid{x, y, z, ranks / x / y / z};
        const std::int64_t sites = surface(lattice, grid, thinnest);
        if (sites < 0 || (least >= 0 && sites >= least)) continue;
        least = sites;
        best = grid;
      }
    }
  }
  if (least < 0)
    throw Error(ErrorKind::input, "--ranks", fmt::format("{} ranks are too many for a lattice of {}", ranks, fmt::join(lattice, "x")),
                "start fewer");
  return best;
}

RankGrid make_rank_grid(const Coord& lattice, const std::optional<Coord>& wanted, std::span<const double> bandwidths, int rank, int thinnest) {
  const auto ranks = static_cast<std::int64_t>(bandwidths.size());
  RankGrid result;
  result.rank = rank;
  result.grid = wanted ? *wanted : choose_rank_grid(lattice, static_cast<int>(ranks), thinnest);
  if (volume(result.grid) != ranks)
    throw Error(ErrorKind::input, "--ranks", fmt::format("{} is a grid of {} ranks, but {} were started", fmt::join(result.grid, ","), volume(result.grid), ranks),
                fmt::format("start as many, or use --ranks {}", fmt::join(choose_rank_grid(lattice, static_cast<int>(ranks), thinnest), ",")));
  const auto [slowest, fastest] = std::minmax_element(bandwidths.begin(), bandwidths.end());
  if (result.grid[3] < 2 || *slowest <= 0 || *fastest < 1.1 * *slowest) return result;
  std::vector<double> slabs(static_cast<std::size_t>(result.grid[3]), *fastest);
  for (std::int64_t r = 0; r < ranks; ++r) {
    double& slab = slabs[static_cast<std::size_t>(coordinates(r, result.grid)[3])];
    slab = std::min(slab, bandwidths[static_cast<std::size_t>(r)]);
  }
  result.weights[3] = slabs;
  return result;
}

}  // namespace quarkstar::runtime::mpi
