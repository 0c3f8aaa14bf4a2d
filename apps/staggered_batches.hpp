#pragma once
// Which right-hand sides of a staggered run are solved together.
#include <cstddef>
#include <vector>

#include "apps/config.hpp"

namespace quarkstar::app {

/// One right-hand side: its column and the place of its mass in the list of masses.
struct StaggeredTask {
  int column;
  std::size_t mass;
};

/// Right-hand sides of one operator that are solved together, batch after batch: config.staggered.nrhs at most; with `multishift` the
/// masses of one column, with `blockcg` columns of one mass.
std::vector<std::vector<StaggeredTask>> staggered_batches(const RunConfig& config);

/// How many right-hand sides the batches of the run have; where every mass has an operator of its own, the batches of each.
std::vector<int> numbers_together(const RunConfig& config);

}  // namespace quarkstar::app
