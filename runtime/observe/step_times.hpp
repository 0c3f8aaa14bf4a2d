#pragma once
// When the steps of a batch ran that is replayed as a CUDA graph, on one GPU or several.
#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/cuda.hpp"
#include "runtime/observe/events.hpp"

#include <vector>

struct CUevent_st;

namespace quarkstar::runtime {

/// Marks between the steps of one graph: event nodes, about a microsecond each, so that only a copy of the graph has them that runs now and
/// then. All calls come from the thread of the worker that runs the graph.
class StepTimes {
 public:
  StepTimes() = default;
  ~StepTimes();
  StepTimes(const StepTimes&) = delete;
  StepTimes& operator=(const StepTimes&) = delete;

  /// During the capture, around what belongs to a step, with its GPU as the current one. event: its times are filled in when it has run;
  /// worker: in whose row of a trace it belongs.
  void begin_step(CudaStream stream);
  void end_step(CudaStream stream, int worker, const Event& event);

  /// The graph is about to be launched: its times have not been read until record() is called.
  void launch();
  bool is_under_way() const { return under_way_; }

  /// Records the steps. Each worker that has any was busy for busy_us. Only after the graph has run.
  void record(Events& events, double busy_us);

 private:
  struct Step {
    int worker, device;
    CUevent_st *begin, *end;
    Event event;
  };
  CUevent_st* mark(CudaStream stream);

  std::vector<CUevent_st*> marks_;
  std::vector<Step> steps_;
  bool under_way_ = false;
};

}  // namespace quarkstar::runtime
#endif
