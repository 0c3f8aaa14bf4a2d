#pragma once
// When a GPU task's kernels ran: CUDA events around them, read when the task has ended.
#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/cuda.hpp"
#include "runtime/observe/events.hpp"
#include "runtime/observe/gpu_clock.hpp"
#include "runtime/observe/step_times.hpp"

#include <map>
#include <memory>
#include <string_view>
#include <vector>

struct CUevent_st;

namespace quarkstar::runtime {

/// The times of one CUDA task. All calls come from the thread of its worker. Costs about 3 us of that thread per task.
class GpuTimes {
 public:
  /// Marks the begin on the stream; to be made before the task's first kernel is enqueued.
  GpuTimes(CudaStream stream, int worker);
  ~GpuTimes();
  GpuTimes(const GpuTimes&) = delete;
  GpuTimes& operator=(const GpuTimes&) = delete;

  /// A part of the task (its only one, unless it is fused); the event's times are filled in later. marked: the kernels enqueued since the
  /// last mark are this part's, so its end is marked. Parts without a mark share the time up to the next one in proportion to their
  /// bytes: inside a replayed graph nothing can be told apart.
  void add(const Event& event, bool marked);
  /// A part, without a mark, that ran on the GPU of another worker: such parts share the time of the whole task there.
  void add(int worker, const Event& event);
  /// The task was a graph with marks between its steps: these times are recorded, in place of those of the parts that were added.
  void take(std::shared_ptr<StepTimes> steps) { steps_ = std::move(steps); }
  /// Parts that share an interval are to be one event, for traces: their own times are not known.
  void join_unmarked() { join_ = true; }

  /// Marks the end of the task, after its last kernel has been enqueued.
  void end();

  /// Records the parts with their times on the host's clock (starpu_timing_now, microseconds; error about 10 us for all of them in common,
  /// 1 us between those of one GPU). Every worker of the parts was busy from the begin to the end. Only after the task has ended on the
  /// GPU. task: the codelet's name, under which a task of several parts is remembered as a whole, for policies that predict.
  void record(Events& events, std::string_view task);

 private:
  void mark();

  CudaStream stream_;
  GpuClock& clock_;  ///< of the task's GPU: another may be the current one when the task has ended
  int worker_;
  bool join_ = false;
  std::vector<CUevent_st*> marks_;  ///< begin, then the end of each group of parts
  std::vector<Event> parts_;
  std::vector<std::size_t> groups_;  ///< parts up to each mark but the first
  std::map<int, std::vector<Event>> elsewhere_;
  std::shared_ptr<StepTimes> steps_;
};

}  // namespace quarkstar::runtime
#endif
