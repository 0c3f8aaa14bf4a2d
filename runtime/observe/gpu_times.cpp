#ifdef QUARKSTAR_CUDA
#include "runtime/observe/gpu_times.hpp"

#include "runtime/observe/codelet_costs.hpp"
#include "runtime/observe/share_interval.hpp"

#include <cuda_runtime_api.h>
#include <starpu.h>

#include <algorithm>
#include <span>

namespace quarkstar::runtime {

GpuTimes::GpuTimes(CudaStream stream, int worker) : stream_(stream), clock_(gpu_clock()), worker_(worker) {
  clock_.start(stream);
  mark();
}

GpuTimes::~GpuTimes() {
  for (const cudaEvent_t event : marks_)
    if (event != nullptr) clock_.give(event);
}

void GpuTimes::mark() {
  marks_.push_back(clock_.take());
  cudaEventRecord(marks_.back(), stream_);
}

void GpuTimes::add(const Event& event, bool marked) {
  parts_.push_back(event);
  if (!marked) return;
  mark();
  groups_.push_back(parts_.size());
}

void GpuTimes::add(int worker, const Event& event) {
  if (worker == worker_) add(event, false);
  else elsewhere_[worker].push_back(event);
}

void GpuTimes::end() {
  if (!groups_.empty() && groups_.back() == parts_.size()) return;
  mark();
  groups_.push_back(parts_.size());
}

void GpuTimes::record(Events& events, std::string_view task) {
  std::vector<double> times;
  for (const cudaEvent_t event : marks_) times.push_back(std::max(times.empty() ? 0.0 : times.back(), clock_.host_us(event)));
  const double begin = times.front(), end = times.back();
  if (steps_ != nullptr) {
    steps_->record(events, end - begin);
  } else {
    std::vector<Event> recorded;
    std::size_t first = 0;
    const auto share = [&](std::span<Event> group, double from, double to) {
      if (join_ && group.size() > 1) {
        recorded.push_back(join_interval(group, from, to));
        return;
      }
      share_interval(group, from, to);
      recorded.insert(recorded.end(), group.begin(), group.end());
    };
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      share(std::span(parts_).subspan(first, groups_[g] - first), times[g], times[g + 1]);
      first = groups_[g];
    }
    if (CodeletCosts* costs = CodeletCosts::of_session(); costs != nullptr && parts_.size() > 1) {
      double bytes = 0;
      for (const Event& part : parts_) bytes += part.cost.bytes;
      costs->record(worker_, task, bytes, end - begin);
    }
    events.record(worker_, recorded, end - begin);
    for (auto& [worker, parts] : elsewhere_) {
      recorded.clear();
      share(parts, begin, end);
      events.record(worker, recorded, end - begin);
    }
  }
  if (clock_.move_to(marks_.back(), end)) marks_.pop_back();
}

}  // namespace quarkstar::runtime
#endif
