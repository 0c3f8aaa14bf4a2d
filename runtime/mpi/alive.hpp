#pragma once
// Which ranks still answer, asked by a watchdog when nothing happens any more: a collective call that hangs does not say whom it waits for.
#include <chrono>
#include <vector>

#include "runtime/mpi/job.hpp"

namespace quarkstar::runtime::mpi {

/// Answers the ranks that have asked. To be called now and then by one thread of each rank, the one that may call silent_ranks().
void answer_calls(Job& job);

/// Asks all other ranks, and returns those that have not answered within `limit`; answers them meanwhile. Empty for a job of one
/// process, and where another thread has kept MPI to itself all the time.
std::vector<int> silent_ranks(Job& job, std::chrono::seconds limit);

}  // namespace quarkstar::runtime::mpi
