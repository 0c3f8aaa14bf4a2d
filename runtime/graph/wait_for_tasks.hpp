#pragma once
// Waiting without a copy.
#include "runtime/graph/handle.hpp"

namespace quarkstar::runtime {

/// Waits for the tasks on a handle that has been written. What is in it stays where it is: a HostView would take memory of its size on the
/// host, and pinning that costs 0.2 s a GB. use_caller: they use memory of the program that this job is a guest of (runtime/mpi/guest.hpp),
/// so this thread counts as one that does, and the program is not told of a lost job before they have run.
void wait_for_tasks(const Handle& handle, bool use_caller = false);

}  // namespace quarkstar::runtime
