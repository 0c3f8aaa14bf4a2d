#pragma once
// Waiting without a copy.
#include "runtime/graph/handle.hpp"

namespace quarkstar::runtime {

/// Waits for the tasks on a handle that has been written. What is in it stays where it is: a HostView would take memory of its size on the
/// host, and pinning that costs 0.2 s a GB.
void wait_for_tasks(const Handle& handle);

}  // namespace quarkstar::runtime
