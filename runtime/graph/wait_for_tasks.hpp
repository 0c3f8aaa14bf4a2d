#pragma once
// Waiting without a copy.
#include "runtime/graph/handle.hpp"

namespace quarkstar::runtime {

/// Waits for the tasks on a handle that has been written. What is in it stays where it is: a HostView would take memory of its size on the
/// host, and pinning that costs 0.2 s a GB. use_caller: they use memory of the program that this job is a guest of (runtime/mpi/guest.hpp),
/// so this thread counts as one that does, and the program waits for them, some seconds at most, before it is told of a lost job. The tasks
/// that they depend on must have run: those may wait for other ranks.
void wait_for_tasks(const Handle& handle, bool use_caller = false);

/// Waits for all submitted tasks, which use memory of the program. Only where the job has one rank.
void wait_for_all_tasks_of_caller();

}  // namespace quarkstar::runtime
