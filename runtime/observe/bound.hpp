#pragma once
// What no schedule can beat: lower bounds on the time of a task graph on given workers.
#include "runtime/observe/task_graph.hpp"

#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace quarkstar::runtime {

/// Workers that are alike. A task takes launch + bytes / bandwidth on one of them.
struct WorkerKind {
  bool cuda = false;
  int workers = 1;
  double gbs = 0;                                 ///< bandwidth of each, GB/s: the highest that it has in any task
  std::map<std::string_view, double> rates = {};  ///< that in the tasks of one codelet; `gbs` in those of others
};

/// Where tasks run that stay on the workers that they are placed on, and how fast data get there.
struct Owners {
  struct Worker {
    bool cuda = false;
    int memory = 0;  ///< number of the memory that it works in
  };
  std::vector<Worker> workers = {};           ///< by the numbers that Placement::owner has
  std::vector<std::vector<double>> gbs = {};  ///< [to][from]: GB/s from one memory to another; 0: no way
};

/// Microseconds. All but owners_us hold for every placement, and move data for nothing.
struct Bounds {
  double bandwidth_us = 0;      ///< sum of bytes over sum of bandwidths, as if every task could be divided among all workers
  double critical_path_us = 0;  ///< the longest chain of tasks, each on the kind of worker that is fastest for it
  double assignment_us = 0;     ///< tasks divided between kinds of workers at will, but only among those that can run them
  double owners_us = 0;         ///< every task runs at its owner, and data cross from memory to memory; 0: no owners were given
  double best() const;          ///< the largest
};

/// The bounds. launch_us: what every task costs besides its bytes; 0 where it is not known to be unavoidable.
/// The assignment is the linear programme: minimise T with fractions x_ik >= 0 of task i on kind k, sum_k x_ik = 1,
/// sum_i x_ik d_ik <= m_k T, where d_ik is the task's duration there and m_k the number of workers (E. Agullo et al., "Bridging the gap
/// between performance and bounds of Cholesky factorization on heterogeneous platforms", HCW 2015, without its dependencies). For two kinds
/// it is solved exactly: tasks in the order of d_i1 / d_i2, the first of which go to kind 2. For more kinds, each is set against all others
/// taken together, whose tasks then take the least of their durations: a relaxation, so still a bound; the largest of them counts.
/// A kind without bandwidth does not count as workers. Cost: edges + tasks log tasks. Throws Error(input) where no kind can run a task that
/// has bytes; one without them, a scalar step of a kind of worker whose bandwidth nothing told, takes only launch_us.
///
/// owners: what a run cannot beat that runs each task i at its owner w(i), in memory m(i) (one that w(i) cannot run: anywhere, and its
/// results are anywhere). A piece of data of b bytes that j has written in memory l and i reads in m != l crosses between the begin of j,
/// which may send what it has written so far, and the end of i. The largest of
///   - max_i e_i, the longest chain: e_i = max(s_i + d_i, s_j + b / max_l g_ml for each such j), s_i = max(e_j of each j that i waits for);
///     g_ml: GB/s from l to m
///   - max_w sum of d_i over the tasks of worker w
///   - max_m sum of b over what crosses into m, counted once for each time that it is written, over sum_l g_ml.
/// Data that several tasks write at once, bytes of their own each (inout_apart), are not counted, nor what no task has written. A placement
/// that moves less may be faster than this bound, which is then none: all tasks in one memory move nothing.
Bounds lower_bounds(const TaskGraph& graph, std::span<const WorkerKind> kinds, double launch_us = 0, const Owners* owners = nullptr);

}  // namespace quarkstar::runtime
