#include "runtime/mpi/rank_grid.hpp"

#include "runtime/cut/proportional_cut.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace quarkstar::runtime::mpi {
namespace {

/// Sites that the largest part sends in one exchange, both ways along every cut direction; -1: the lattice cannot be cut that way.
std::int64_t surface(const Coord& lattice, const Coord& grid, int thinnest) {
  Coord part{};
  for (int mu = 0; mu < 4; ++mu) {
    const int least = mu == 0 ? 2 : 1;  // blocks are even along x
    const int thick = (thinnest + least - 1) / least * least;
    if (grid[mu] > 1 && grid[mu] * thick > lattice[mu]) return -1;
    part[mu] = (lattice[mu] / least + grid[mu] - 1) / grid[mu] * least;
  }
  std::int64_t sites = 0;
  for (int mu = 0; mu < 4; ++mu)
    if (grid[mu] > 1) sites += 2 * volume(part) / part[mu];
  return sites;
}

/// Ways to write `ranks` as a product of four: x slowest and ascending, so that the first of equals cuts t most.
template <class Each>
void for_each_grid(int ranks, Each&& each) {
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (int y = 1; y <= ranks / x; ++y) {
      if (ranks / x % y != 0) continue;
      for (int z = 1; z <= ranks / x / y; ++z)
        if (ranks / x / y % z == 0) each(Coord{x, y, z, ranks / x / y / z});
    }
  }
}

using Slabs = std::array<std::vector<int>, 4>;

std::vector<int> cut(const Coord& lattice, std::size_t mu, const std::vector<double>& weights, const PartLimits& limits) {
  if (weights.size() == 1) return {lattice[mu]};
  return parts_for_all(lattice[mu], weights, limits.thinnest, limits.unit(mu));
}

/// Nearly equal slabs. Empty for a direction that has too few layers.
Slabs equal_slabs(const Coord& lattice, const Coord& grid, const PartLimits& limits) {
  Slabs slabs;
  for (std::size_t mu = 0; mu < 4; ++mu) slabs[mu] = cut(lattice, mu, std::vector<double>(static_cast<std::size_t>(grid[mu]), 1.0), limits);
  return slabs;
}

bool is_cut(const Slabs& slabs) {
  return std::none_of(slabs.begin(), slabs.end(), [](const std::vector<int>& of) { return of.empty(); });
}

Coord part_at(const Slabs& slabs, const Coord& place) {
  Coord part{};
  for (std::size_t mu = 0; mu < 4; ++mu) part[mu] = slabs[mu][static_cast<std::size_t>(place[mu])];
  return part;
}

/// Of the rank that takes longest: sites over speed.
double time_of(const Slabs& slabs, const Coord& grid, std::span<const double> speeds) {
  double longest = 0;
  for (std::size_t r = 0; r < speeds.size(); ++r)
    longest = std::max(longest, static_cast<double>(volume(part_at(slabs, coordinates(static_cast<std::int64_t>(r), grid)))) / speeds[r]);
  return longest;
}

/// Slabs for these speeds, one direction after the other for the extents that the others have.
Slabs balanced_slabs(const Coord& lattice, const Coord& grid, std::span<const double> speeds, const PartLimits& limits) {
  Slabs slabs = equal_slabs(lattice, grid, limits);
  if (!is_cut(slabs)) return slabs;
  Slabs best = slabs;
  double least = time_of(slabs, grid, speeds);
  constexpr int rounds = 4;  // two directions rarely need more than two
  for (int round = 0; round < rounds; ++round) {
    const Slabs before = slabs;
    for (const std::size_t mu : {3, 2, 1, 0}) {
      if (grid[mu] == 1) continue;
      // Layers in a unit of time of each slab's slowest rank.
      std::vector<double> layers(static_cast<std::size_t>(grid[mu]), 0.0);
      for (std::size_t r = 0; r < speeds.size(); ++r) {
        const Coord place = coordinates(static_cast<std::int64_t>(r), grid), part = part_at(slabs, place);
        const double mine = speeds[r] / (static_cast<double>(volume(part)) / part[mu]);
        double& slab = layers[static_cast<std::size_t>(place[mu])];
        slab = slab > 0 ? std::min(slab, mine) : mine;
      }
      slabs[mu] = cut(lattice, mu, layers, limits);
    }
    if (const double time = time_of(slabs, grid, speeds); time < least) {
      best = slabs;
      least = time;
    }
    if (slabs == before) break;
  }
  return best;
}

/// Sites that any part sends at most, cut directions only.
std::int64_t surface_of(const Slabs& slabs, const Coord& grid, std::size_t ranks) {
  std::int64_t most = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    const Coord part = part_at(slabs, coordinates(static_cast<std::int64_t>(r), grid));
    std::int64_t sites = 0;
    for (std::size_t mu = 0; mu < 4; ++mu)
      if (grid[mu] > 1) sites += 2 * volume(part) / part[mu];
    most = std::max(most, sites);
  }
  return most;
}

constexpr double tolerated = 1.1;

/// Least extent of a part that is cut in this direction.
int least_extent(const PartLimits& limits, std::size_t mu) {
  const int unit = limits.unit(mu);
  return (limits.thinnest + unit - 1) / unit * unit;
}

[[noreturn]] void refuse_ranks(const Coord& lattice, int ranks, const PartLimits& limits) {
  Coord least{};
  for (std::size_t mu = 0; mu < 4; ++mu) least[mu] = least_extent(limits, mu);
  throw Error(ErrorKind::input, Parameter("ranks"),
              fmt::format("{} ranks are too many for a lattice of {}: parts have {} sites or more in the directions that are cut", ranks,
                          fmt::join(lattice, "x"), fmt::join(least, "x")),
              "start fewer");
}

Coord balanced_grid(const Coord& lattice, std::span<const double> speeds, const PartLimits& limits) {
  struct Candidate {
    Coord grid;
    double time;
    std::int64_t surface;
  };
  std::vector<Candidate> all;
  for_each_grid(static_cast<int>(speeds.size()), [&](const Coord& grid) {
    const Slabs slabs = balanced_slabs(lattice, grid, speeds, limits);
    if (is_cut(slabs)) all.push_back({grid, time_of(slabs, grid, speeds), surface_of(slabs, grid, speeds.size())});
  });
  if (all.empty()) refuse_ranks(lattice, static_cast<int>(speeds.size()), limits);
  const double least =
      std::min_element(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.time < b.time; })->time;
  std::erase_if(all, [least](const Candidate& c) { return c.time > tolerated * least; });
  return std::min_element(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.surface < b.surface; })->grid;
}

}  // namespace

Coord choose_rank_grid(const Coord& lattice, int ranks, int thinnest) {
  std::int64_t least = -1;
  Coord best{};
  for_each_grid(ranks, [&](const Coord& grid) {
    const std::int64_t sites = surface(lattice, grid, thinnest);
    if (sites < 0 || (least >= 0 && sites >= least)) return;
    least = sites;
    best = grid;
  });
  if (least < 0) refuse_ranks(lattice, ranks, {.thinnest = thinnest});
  return best;
}

RankGrid make_rank_grid(const Coord& lattice, const std::optional<Coord>& wanted, std::span<const double> speeds, int rank,
                        const PartLimits& limits) {
  const auto ranks = static_cast<int>(speeds.size());
  const auto [slowest, fastest] = std::minmax_element(speeds.begin(), speeds.end());
  const bool alike = !(*slowest > 0) || *fastest <= tolerated * *slowest;
  const std::vector<double> ones(speeds.size(), 1.0);
  const auto choose = [&] {
    if (alike && limits.multiple == Coord{1, 1, 1, 1}) return choose_rank_grid(lattice, ranks, limits.thinnest);
    return balanced_grid(lattice, alike ? std::span<const double>(ones) : speeds, limits);
  };
  RankGrid result;
  result.rank = rank;
  result.grid = wanted ? *wanted : choose();
  if (volume(result.grid) != ranks)
    throw Error(ErrorKind::input, Parameter("ranks"),
                fmt::format("{} is a grid of {} ranks, but {} were started", fmt::join(result.grid, ","), volume(result.grid), ranks),
                fmt::format("start as many, or use ranks {}", fmt::join(choose(), ",")));
  result.slabs = alike ? equal_slabs(lattice, result.grid, limits) : balanced_slabs(lattice, result.grid, speeds, limits);
  for (std::size_t mu = 0; mu < 4; ++mu) {
    if (!result.slabs[mu].empty()) continue;
    const int least = least_extent(limits, mu);
    throw Error(ErrorKind::input, Parameter("ranks"),
                fmt::format("cannot cut {} = {} into {} parts of {} sites or more", "xyzt"[mu], lattice[mu], result.grid[mu], least),
                fmt::format("use at most {} parts in {}", std::max(1, lattice[mu] / least), "xyzt"[mu]));
  }
  return result;
}

}  // namespace quarkstar::runtime::mpi
