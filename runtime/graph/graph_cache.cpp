#ifdef QUARKSTAR_CUDA
#include "runtime/graph/graph_cache.hpp"

#include "runtime/gpu/end_of_session.hpp"
#include "runtime/gpu/one_by_one.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/observe/step_times.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <list>

namespace quarkstar::runtime {
namespace {

/// The latest few graphs are kept: two kinds of batches for each solve in flight; replays of one are sampled every so many times.
constexpr std::size_t fewest_entries = 8;
std::size_t most_entries() { return std::max(fewest_entries, 2 * static_cast<std::size_t>(Turns::in_flight())); }
constexpr int sampled_every = 8;

struct Entry {
  std::vector<std::byte> key;
  cudaGraphExec_t graph = nullptr;
  cudaGraphExec_t marked = nullptr;  ///< the same with marks between the steps
  std::shared_ptr<StepTimes> steps;  ///< these marks
  int replays = 0;

  void destroy() {
    for (cudaGraphExec_t made : {graph, marked})
      if (made != nullptr) cudaGraphExecDestroy(made);
  }
};

class Cache {
 public:
  ~Cache() {
    for (Entry& entry : entries_) entry.destroy();
  }

  /// The entry of a key, most recently used first; a new one has no graph yet.
  std::pair<Entry&, bool> find(std::vector<std::byte> key) {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
      if (entry->key == key) {
        entries_.splice(entries_.begin(), entries_, entry);
        return {entries_.front(), true};
      }
    while (entries_.size() >= most_entries()) {
      entries_.back().destroy();
      entries_.pop_back();
    }
    entries_.emplace_front().key = std::move(key);
    return {entries_.front(), false};
  }

 private:
  std::list<Entry> entries_;
};

cudaGraphExec_t capture(CudaStream stream, const std::function<void()>& enqueue) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  // Relaxed: other threads of the runtime may call what a strict capture forbids.
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  check_launch("the capture of a graph");
  enqueue();
  cudaStreamEndCapture(stream, &graph);
  check_launch("the capture of a graph");
  // Kernels keep the priority of the stream that they were captured from: packs and boundaries go before interiors.
  cudaGraphInstantiate(&made, graph, cudaGraphInstantiateFlagUseNodePriority);
  check_launch("the instantiation of a graph");
  cudaGraphDestroy(graph);
  return made;
}

/// A stop flag in device memory, as the host sees it between the replays of a graph. One a worker.
class StopFlag {
 public:
  StopFlag() {
    cudaHostAlloc(reinterpret_cast<void**>(&seen_), copies * sizeof *seen_, cudaHostAllocPortable);
    for (cudaEvent_t& event : copied_) cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    check_launch("a stop flag's copies");  // without them there is nothing to read
  }
  ~StopFlag() {
    for (const cudaEvent_t event : copied_) cudaEventDestroy(event);
    cudaFreeHost(seen_);
  }
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;
  /// What the flag is after all that has been enqueued: copied there, to be read by number.
  void copy(int number, const std::int32_t* flag, CudaStream stream) {
    cudaMemcpyAsync(seen_ + number % copies, flag, sizeof *flag, cudaMemcpyDeviceToHost, stream);
    cudaEventRecord(copied_[number % copies], stream);
  }
  /// Waits for that copy. An error counts as a stop: it is told by the next check_launch().
  bool is_raised(int number) const { return cudaEventSynchronize(copied_[number % copies]) != cudaSuccess || seen_[number % copies] != 0; }

 private:
  static constexpr int copies = 2;
  std::int32_t* seen_ = nullptr;
  cudaEvent_t copied_[copies]{};
};

/// launch() until the flag is raised or it has been called limit.most times; how often it was.
int replay(const ReplayLimit& limit, CudaStream stream, const std::function<void()>& launch) {
  if (limit.stop == nullptr || limit.most <= 1) {
    for (int times = 0; times < limit.most; ++times) launch();
    return limit.most;
  }
  static thread_local StopFlag* flag = nullptr;
  if (flag == nullptr) {
    flag = new StopFlag;
    at_end_of_session([made = flag] { delete made; });
  }
  flag->copy(0, limit.stop, stream);
  if (flag->is_raised(0)) return 0;
  for (int times = 1;; ++times) {
    launch();
    if (times == limit.most) return times;
    flag->copy(times, limit.stop, stream);
    if (times > 1 && flag->is_raised(times - 1)) return times;
  }
}

}  // namespace

GraphRun run_through_graph(std::vector<std::byte> key, CudaStream stream, const std::function<void(StepTimes*)>& enqueue, bool sampled,
                           bool at_once, const ReplayLimit& limit) {
  static thread_local Cache cache;
  const auto [entry, seen] = cache.find(std::move(key));
  if (!seen && !at_once) {
    enqueue(nullptr);
    if (limit.comes_again) entry.graph = capture(stream, [&] { enqueue(nullptr); });
    return {};
  }
  if (entry.graph == nullptr) entry.graph = capture(stream, [&] { enqueue(nullptr); });
  // A graph's marks are read when its task has ended; the next task may be enqueued before.
  const bool sample = sampled && entry.replays++ % sampled_every == 0 && !(entry.steps != nullptr && entry.steps->is_under_way());
  if (sample && entry.marked == nullptr) {
    entry.steps = std::make_shared<StepTimes>();
    // A kernel that is brought onto the GPU early would be measured with the end of the one before it.
    const OneByOne one_by_one;
    entry.marked = capture(stream, [&] { enqueue(entry.steps.get()); });
  }
  if (sample) entry.steps->launch();
  const cudaGraphExec_t graph = sample ? entry.marked : entry.graph;
  const int times = replay(sample ? ReplayLimit{} : limit, stream, [&] { cudaGraphLaunch(graph, stream); });
  check_launch("graph replay");
  return {sample ? entry.steps : nullptr, times};
}

}  // namespace quarkstar::runtime
#endif
