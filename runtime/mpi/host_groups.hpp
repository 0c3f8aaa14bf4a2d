#pragma once
// Which ranks can share memory.
#include "runtime/mpi/job.hpp"

#include <vector>

namespace quarkstar::runtime::mpi {

/// Ranks by the host that they sit on, as far as transports go. $QUARKSTAR_HOST=NAME: ranks of one machine with different names count as
/// ranks of different hosts, which share no memory and reach each other through MPI: for tests of what happens between hosts. Cores, GPUs
/// and memory are divided by Job::machines() all the same.
struct HostGroups {
  std::vector<int> of_rank;  ///< number of each rank's group; groups are numbered in the order of their lowest ranks
  int count = 0;

  /// Ranks of a group, ascending.
  std::vector<int> ranks_of(int group) const;
  bool together(int rank, int other) const { return of_rank[static_cast<std::size_t>(rank)] == of_rank[static_cast<std::size_t>(other)]; }
};

/// Collective.
HostGroups host_groups(Job& job);

/// How many ranks divide this one's host, by Job::machines(); it is one of them.
int ranks_on_this_host(const Job& job);

}  // namespace quarkstar::runtime::mpi
