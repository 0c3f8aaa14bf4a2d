#pragma once
// Which rectangle of the lattice each rank gets.
#include <optional>
#include <span>

#include "runtime/decomposition.hpp"

namespace quarkstar::runtime::mpi {

/// The grid of `ranks` rectangles that sends least: of all ways to factor the number over the directions, the one whose parts have the
/// smallest surface, cut directions only; among equals the one that cuts t, then z, most, so that x stays whole. Throws Error(input)
/// naming --ranks when the lattice cannot be cut into so many.
/// thinnest: least extent of a part in a direction that is cut.
Coord choose_rank_grid(const Coord& lattice, int ranks, int thinnest = 1);

/// The grid wanted (or chosen), for `rank` of bandwidths.size() ranks. Where ranks differ in memory bandwidth by more than a tenth, the
/// cuts of t follow: a slab's extent is in proportion to its slowest rank. Throws Error(input) naming --ranks when their product is not
/// the number of ranks.
RankGrid make_rank_grid(const Coord& lattice, const std::optional<Coord>& wanted, std::span<const double> bandwidths, int rank, int thinnest = 1);

}  // namespace quarkstar::runtime::mpi
