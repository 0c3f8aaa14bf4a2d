#pragma once
// How many flops a HISQ Dslash does for each byte it must move: the first seed document's model.
#include <vector>

namespace quarkstar::app::hisq_model {

/// Flops of a site and right-hand side: 16 products of a matrix and a vector, 15 sums.
inline constexpr double flops = 1146;

/// Bytes of a site in single precision: 8 fat links of 18 reals and 8 long links of 14; 16 neighbours read and one vector written, 24
/// each, for n right-hand sides. cache_hits: the part of the neighbours that a cache already holds. Source: seed document 0
/// (docs/conventions.md, section 8).
constexpr double bytes(int n, double cache_hits) {
  constexpr double links = 8 * (18 + 14) * 4;
  return links + n * (16 * 24 * (1 - cache_hits) + 24);
}

/// Flop a byte: 0.80, 1.25, 1.53, 1.73, 1.87 for n = 1..5 without cache hits.
constexpr double intensity(int n, double cache_hits = 0) { return flops * n / bytes(n, cache_hits); }

/// The parts of the document's table for one right-hand side: of 16 neighbours so many come from a cache.
inline constexpr int cached_neighbours[] = {0, 3, 5, 7, 9, 15};

}  // namespace quarkstar::app::hisq_model
