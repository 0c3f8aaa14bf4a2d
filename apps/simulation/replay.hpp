#pragma once
// `quarkstar-sim bench replay GRAPH.json`: a task graph that a run has written (`solve --graph`), under any policy on the simulated
// machine.
#include "runtime/graph/session.hpp"
#include "runtime/observe/worker_times.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace quarkstar::app {

/// A graph as runtime::write_task_graph() writes it.
struct ReplayGraph {
  struct Task {
    std::string codelet;
    int owner = 0, block = -1;
    double flops = 0, bytes = 0;
    bool urgent = false, refresh = false;
    int batch = -1;                                         ///< as TaskGraph::Task has it
    std::vector<std::pair<std::size_t, std::string>> data;  ///< numbers, and in, out or inout
  };
  std::vector<Task> tasks;        ///< in the order of their submission
  std::vector<std::size_t> data;  ///< bytes of each piece
};

/// Reads a file. Throws Error(input) naming it where it is no such graph, Error(environment) where it cannot be read.
ReplayGraph read_graph(const std::string& path);

/// As many groups of right-hand sides in flight as a graph of one would be: copies of it, batch by batch in turn, each with owners and data
/// of its own but for data that nobody writes, on a lattice of `volume` times as many sites: bytes of data beyond 64 KiB, and what tasks on
/// them cost, grow by that.
ReplayGraph in_groups(const ReplayGraph& graph, int groups, double volume);

struct Replayed {
  double microseconds = 0;  ///< from the first submission to the end of the last task
  std::vector<runtime::WorkerTimes> workers;
  std::vector<runtime::LinkTraffic> links;
};

/// Submits the tasks in their order, with their data, those of a batch of one owner together: whether it becomes one task is the policy's
/// as in a run (runtime/graph/batch.hpp). What each takes, and who can run it, follows from its codelet's name and its cost, as in every
/// simulation. Owners are those of the graph, spread evenly over the workers that own blocks here. Data are at first in the memory of the
/// owner who is the first to use them, those that nobody writes in the memories of all who do; what one owner writes and another one reads
/// is copied as faces are. Refreshes are not due.
Replayed replay(const ReplayGraph& graph, runtime::Session& session);

}  // namespace quarkstar::app
