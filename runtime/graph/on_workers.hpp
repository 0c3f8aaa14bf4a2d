#pragma once
// The same work on several workers at once, outside the task graph: for measurements of what they do together.
#include "runtime/graph/session.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace quarkstar::runtime {

/// Calls body(i, worker) once for each i on the own thread of worker ids[i], whatever the policy, and returns when all are done. All calls
/// are in flight at the same time, so they may wait for each other. `worker.team` is that thread's to command, on the cores that it is
/// bound to. ids: different CPU workers of the running session, which should have nothing else to do. Throws what a body has thrown first,
/// when all are done. Not in simulations, where workers are no threads.
void on_workers(const std::vector<int>& ids, const std::function<void(std::size_t i, const Worker& worker)>& body);

}  // namespace quarkstar::runtime
