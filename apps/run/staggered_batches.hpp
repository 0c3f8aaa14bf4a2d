#pragma once
// Which right-hand sides of a staggered run are solved together.
#include "apps/command/config.hpp"

#include <cstddef>
#include <vector>

namespace quarkstar::app {

/// One right-hand side: the place of its source among the run's, its column, and the place of its mass in the list of
/// masses.
struct StaggeredTask {
  std::size_t source;
  int column;
  std::size_t mass;
  bool operator==(const StaggeredTask&) const = default;
};

/// Right-hand sides of one operator that are solved together, batch after batch: config.nrhs at most, of any
/// sources, columns and, with `cg`, masses; those of one mass follow each other, for they take about the same
/// iterations. With `blockcg` a batch has one mass, with `multishift` one column of one source, with as many masses as
/// go together.
std::vector<std::vector<StaggeredTask>> staggered_batches(const RunConfig& config);

/// The columns of each of a run's sources by the groups in which they are solved together, config.nrhs at most.
std::vector<std::vector<int>> column_groups(const RunConfig& config);

/// How many right-hand sides the batches of the run have; where every mass has an operator of its own, the batches of each.
std::vector<int> numbers_together(const RunConfig& config);

}  // namespace quarkstar::app
