#pragma once
// What no schedule can beat: lower bounds on the time of a task graph on given workers, moving data for nothing.
#include "runtime/observe/task_graph.hpp"

#include <map>
#include <span>
#include <string_view>

namespace quarkstar::runtime {

/// Workers that are alike. A task takes launch + bytes / bandwidth on one of them.
struct WorkerKind {
  bool cuda = false;
  int workers = 1;
  double gbs = 0;                                 ///< bandwidth of each, GB/s: the highest that it has in any task
  std::map<std::string_view, double> rates = {};  ///< that in the tasks of one codelet; `gbs` in those of others
};

/// Microseconds.
struct Bounds {
  double bandwidth_us = 0;      ///< sum of bytes over sum of bandwidths, as if every task could be divided among all workers
  double critical_path_us = 0;  ///< the longest chain of tasks, each on the kind of worker that is fastest for it
  double assignment_us = 0;     ///< tasks divided between kinds of workers at will, but only among those that can run them
  double best() const;          ///< the largest
};

/// The three bounds. launch_us: what every task costs besides its bytes; 0 where it is not known to be unavoidable.
/// The assignment is the linear programme: minimise T with fractions x_ik >= 0 of task i on kind k, sum_k x_ik = 1,
/// sum_i x_ik d_ik <= m_k T, where d_ik is the task's duration there and m_k the number of workers (E. Agullo et al., "Bridging the gap
/// between performance and bounds of Cholesky factorization on heterogeneous platforms", HCW 2015, without its dependencies). For two kinds
/// it is solved exactly: tasks in the order of d_i1 / d_i2, the first of which go to kind 2. For more kinds, each is set against all others
/// taken together, whose tasks then take the least of their durations: a relaxation, so still a bound; the largest of them counts.
/// A kind without bandwidth does not count as workers. Cost: edges + tasks log tasks. Throws Error(input) where no kind can run a task that
/// has bytes; one without them, a scalar step of a kind of worker whose bandwidth nothing told, takes only launch_us.
Bounds lower_bounds(const TaskGraph& graph, std::span<const WorkerKind> kinds, double launch_us = 0);

}  // namespace quarkstar::runtime
