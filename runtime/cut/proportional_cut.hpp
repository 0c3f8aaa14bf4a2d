#pragma once
// Blocks as thick as their owners are fast.
#include "runtime/cut/decomposition.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace quarkstar::runtime {

/// A worker that can own a block.
struct Share {
  int worker = 0;
  double speed = 1;    ///< in any unit that all have in common
  int most = 1 << 30;  ///< thickest part that its memory holds
};

/// Thicknesses that sum to `extent`, multiples of `unit`, none above its owner's most, such that the slowest part takes the least time
/// (thickness over speed); 0 for an owner who is not needed. thinnest: least thickness of a part that is not 0; then nearly the least time.
/// Empty where the owners cannot hold the extent.
std::vector<int> proportional_parts(int extent, const std::vector<Share>& shares, int unit, int thinnest = 1);

/// Thicknesses of weights.size() parts, none empty, that sum to `extent`: nearly equal where the weights are, else such that the slowest
/// part (thickness over weight) takes nearly the least time. Each is at least `thinnest` and a multiple of `multiple`; also of 4 or 2 where
/// that can be, for such parts can be split over lanes, and a finer cut for unequal weights must make the slowest part a tenth faster.
/// Empty where the extent has too few layers for so many parts. The same on all ranks for the same numbers.
std::vector<int> parts_for_all(int extent, const std::vector<double>& weights, int thinnest = 1, int multiple = 1);

/// Consecutive parts to consecutive owners, each some where there are enough: the owner with most work has as little as such a cut allows,
/// and the earlier ones are near the mean. Where all parts are equal, part p of n goes to owner p owners / n. Cost: parts log work.
std::vector<int> contiguous_owners(std::span<const std::int64_t> work, int owners);

/// max over parts of thickness / speed.
double slowest(const std::vector<int>& parts, const std::vector<Share>& shares);

/// The lattice cut along `direction` only, into the parts that are not 0, each with its owner.
Decomposition cut_in_parts(const Coord& lattice, int direction, const std::vector<int>& parts, const std::vector<Share>& shares);

/// Units of thickness that can be tried for an extent, thick first: parts in multiples of 4 keep a direction that lanes can be split over,
/// thinner ones follow the speeds more closely. whole: what no cut may divide, a divisor of the extent; units are multiples of it.
std::vector<int> units_for(int extent, int whole = 1);

}  // namespace quarkstar::runtime
