#pragma once
// Replays of repeated GPU work as CUDA graphs.
#include <cstddef>
#include <functional>
#include <vector>

#include "runtime/cuda.hpp"

namespace quarkstar::runtime {

/// Runs `enqueue` on the stream; where the same key comes again, the work is captured as a CUDA graph, and from then on replayed: a
/// kernel in a graph starts in about half a microsecond instead of three. The first time runs plainly, so that memory which kernels
/// keep is there before a capture. key: everything that the enqueued work depends on. Per worker; the latest few graphs are kept.
/// at_once: never plainly, for work that waits for other processes while this one may still have to load kernels.
void run_through_graph(std::vector<std::byte> key, CudaStream stream, const std::function<void()>& enqueue, bool at_once = false);

}  // namespace quarkstar::runtime
