#pragma once
// Replays of repeated GPU work as CUDA graphs.
#include "runtime/gpu/cuda.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace quarkstar::runtime {

class StepTimes;

/// How often a graph may be replayed in a row, and where the GPU says that it need not be.
struct ReplayLimit {
  int most = 1;
  const std::int32_t* stop = nullptr;  ///< device memory; not zero: nothing is left to do. nullptr: always `most` times
  /// The same work is likely to follow, so its graph is made while the GPU does what runs plainly.
  bool comes_again = false;
};

struct GraphRun {
  std::shared_ptr<StepTimes> steps;
  int times = 1;  ///< that the work was enqueued; 0: it had been stopped before
};

/// Runs `enqueue` on the stream; where the same key comes again, the work is captured as a CUDA graph, and from then on replayed: a
/// kernel in a graph starts in about half a microsecond instead of three. The first time runs plainly, so that memory which kernels
/// keep is there before a capture. key: everything that the enqueued work depends on. Per worker; the latest few graphs are kept,
/// more while many solves are in flight.
///
/// sampled: the first replay and every eighth runs a second graph of the same work, into which `enqueue` puts the marks of the StepTimes
/// that it is given (otherwise nullptr); these are returned, to be recorded when the work has ended. Nothing is returned for other runs.
/// at_once: never plainly, for work that waits for other processes while this one may still have to load kernels.
/// limit: a replay is followed by the next one until the stop flag is seen; there is always one ahead, so that the GPU
/// has no gap, and at most one too many. How often depends on the flag alone. The calling thread waits meanwhile.
GraphRun run_through_graph(std::vector<std::byte> key, CudaStream stream, const std::function<void(StepTimes*)>& enqueue, bool sampled,
                           bool at_once = false, const ReplayLimit& limit = {});

}  // namespace quarkstar::runtime
