#pragma once
// Replays of repeated GPU work as CUDA graphs.
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/cuda.hpp"

namespace quarkstar::runtime {

class StepTimes;

/// Runs `enqueue` on the stream; where the same key comes again, the work is captured as a CUDA graph, and from then on replayed: a
/// kernel in a graph starts in about half a microsecond instead of three. The first time runs plainly, so that memory which kernels
/// keep is there before a capture. key: everything that the enqueued work depends on. Per worker; the latest few graphs are kept,
/// more while many solves are in flight.
///
/// sampled: the first replay and every eighth runs a second graph of the same work, into which `enqueue` puts the marks of the StepTimes
/// that it is given (otherwise nullptr); these are returned, to be recorded when the work has ended. Nothing is returned for other runs.
/// at_once: never plainly, for work that waits for other processes while this one may still have to load kernels.
std::shared_ptr<StepTimes> run_through_graph(std::vector<std::byte> key, CudaStream stream, const std::function<void(StepTimes*)>& enqueue,
                                             bool sampled, bool at_once = false);

}  // namespace quarkstar::runtime
