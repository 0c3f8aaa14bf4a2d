#include "runtime/observe/task_graph.hpp"

#include <algorithm>
#include <utility>

namespace quarkstar::runtime {
namespace {

thread_local GraphRecording* recording = nullptr;
thread_local bool paused = false;

void append(std::vector<int>& list, const std::vector<int>& more) { list.insert(list.end(), more.begin(), more.end()); }

}  // namespace

void TaskGraph::add(const Cost& cost, bool on_cpu, bool on_cuda, std::span<const Use> uses, std::string_view codelet) {
  const int number = static_cast<int>(tasks_.size());
  Task task{cost, on_cpu, on_cuda, {}, codelet};
  for (const Use& use : uses) {
    State& state = states_[use.data];
    if (use.mode == Access::Mode::in) {
      append(task.after, state.writers);
      state.readers.push_back(number);
    } else if (use.apart && state.apart && state.readers.empty()) {
      append(task.after, state.before);
      state.writers.push_back(number);
    } else {
      std::vector<int> last = std::move(state.writers);
      append(last, state.readers);
      append(task.after, last);
      state = {{number}, {}, std::move(last), use.apart};
    }
  }
  std::sort(task.after.begin(), task.after.end());
  task.after.erase(std::unique(task.after.begin(), task.after.end()), task.after.end());
  std::erase(task.after, number);
  tasks_.push_back(std::move(task));
}

Cost TaskGraph::total() const {
  Cost sum;
  for (const Task& task : tasks_) {
    sum.flops += task.cost.flops;
    sum.bytes += task.cost.bytes;
  }
  return sum;
}

GraphRecording::GraphRecording() { recording = this; }
GraphRecording::~GraphRecording() { recording = nullptr; }

bool GraphRecording::is_active() { return recording != nullptr; }
void GraphRecording::gone(const void* data) {
  if (recording != nullptr) recording->graph_.forget(data);
}
GraphRecording::Pause::Pause() : paused_before_(std::exchange(paused, true)) {}
GraphRecording::Pause::~Pause() { paused = paused_before_; }

void GraphRecording::note(const Codelet& codelet, const Cost& cost, std::span<const Access> accesses, const Placement& placement) {
  if (recording == nullptr || paused || recording->graph_.tasks().size() >= most_tasks) return;
  std::vector<TaskGraph::Use> uses;
  for (const Access& access : accesses) uses.push_back({access.handle->state(), access.mode, access.apart});
  const bool on_cpu = codelet.cpu() != nullptr && !only_on_gpus(codelet, placement);
  recording->graph_.add(cost, on_cpu, codelet.cuda() != nullptr, uses, codelet.name());
}

}  // namespace quarkstar::runtime
