#pragma once
// Which rectangle of the lattice each rank gets.
#include "runtime/cut/decomposition.hpp"

#include <cstddef>
#include <numeric>
#include <optional>
#include <span>

namespace quarkstar::runtime::mpi {

/// The grid of `ranks` rectangles that sends least: of all ways to factor the number over the directions, the one whose parts have the
/// smallest surface, cut directions only; among equals the one that cuts t, then z, most, so that x stays whole. Throws Error(input)
/// naming ranks when the lattice cannot be cut into so many.
/// thinnest: least extent of a part in a direction that is cut.
Coord choose_rank_grid(const Coord& lattice, int ranks, int thinnest = 1);

/// What the parts of a lattice must be.
struct PartLimits {
  int thinnest = 1;            ///< least extent in a direction that is cut
  Coord multiple{1, 1, 1, 1};  ///< extents are multiples of it; x is even in any case
  /// What extents in a direction are multiples of.
  int unit(std::size_t mu) const { return mu == 0 ? std::lcm(2, multiple[mu]) : multiple[mu]; }
};

/// The grid wanted (or chosen), and the slabs of each direction, for `rank` of speeds.size() ranks. Speeds are in any unit that all have in
/// common. Where they differ by a tenth or less, parts are nearly equal and the grid is choose_rank_grid()'s. Else slabs are cut by
/// parts_for_all(), one direction after the other, such that the slowest rank (sites over speed) takes nearly the least time; of the ranks
/// that share a slab the slowest counts. The grid is then the one of the smallest surface among those that take at most a tenth longer than
/// the fastest. A function of its arguments alone, so that all ranks find the same. Throws Error(input) naming ranks when their product
/// is not the number of ranks, or the lattice cannot be cut so.
RankGrid make_rank_grid(const Coord& lattice, const std::optional<Coord>& wanted, std::span<const double> speeds, int rank,
                        const PartLimits& limits = {});

}  // namespace quarkstar::runtime::mpi
