#pragma once
// A part of a CUDA graph that runs only where a kernel before it says so.
#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/cuda.hpp"

#include <memory>
#include <vector>

namespace quarkstar::runtime {

/// Made while a stream is captured, in this order: the object; on the stream a kernel that gets condition() and calls
/// cudaGraphSetConditional with 1 where the part is to run (where it does not call, the part does not run); begin(), what it returns takes
/// the part; end(). What the stream is given then comes after the part. One that does not run costs about as much as a kernel or two,
/// however many it has.
class ConditionalGraph {
 public:
  /// Whether the driver has such nodes and $QUARKSTAR_GRAPH_CONDITIONS is not `off`.
  static bool is_possible();

  /// nullptr: not possible, or the stream is not being captured.
  static std::unique_ptr<ConditionalGraph> make(CudaStream stream);

  unsigned long long condition() const { return condition_; }
  /// Streams on which the kernels of the part are to be enqueued, as plain launches one after the other. The part begins and ends with the
  /// first; others join it by waiting for an event of the first, which waits for one of theirs before the end.
  std::vector<CudaStream> begin(std::size_t streams = 1);
  void end();

 private:
  ConditionalGraph(CudaStream stream, unsigned long long condition) : stream_(stream), condition_(condition) {}
  CudaStream stream_;
  std::vector<CudaStream> inside_;
  unsigned long long condition_;
};

}  // namespace quarkstar::runtime
#endif
