#include "runtime/observe/task_graph.hpp"

#include "runtime/graph/batch.hpp"
#include "runtime/system/atomic_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace quarkstar::runtime {
namespace {

thread_local GraphRecording* recording = nullptr;
thread_local bool paused = false;

void append(std::vector<int>& list, const std::vector<int>& more) { list.insert(list.end(), more.begin(), more.end()); }

}  // namespace

void TaskGraph::add(const Cost& cost, bool on_cpu, bool on_cuda, std::span<const Use> uses, std::string_view codelet,
                    const Placement& placement, int batch) {
  const int number = static_cast<int>(tasks_.size());
  const bool refresh = placement.role == Role::refresh || placement.role == Role::refresh_step;
  Task task{cost, on_cpu, on_cuda, {}, codelet, placement.owner, placement.block, placement.urgent, refresh, batch};
  for (const Use& use : uses) {
    State& state = states_[use.data];
    if (state.number < 0) {
      state.number = static_cast<int>(data_.size());
      data_.push_back(use.bytes);
    }
    task.uses.emplace_back(state.number, use.mode);
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
      state = {{number}, {}, std::move(last), use.apart, state.number};
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
  for (const Access& access : accesses) uses.push_back({access.handle->state(), access.mode, access.apart, access.handle->bytes()});
  const bool on_cpu = codelet.cpu() != nullptr && !only_on_gpus(codelet, placement);
  recording->graph_.add(cost, on_cpu, codelet.cuda() != nullptr, uses, codelet.name(), placement,
                        Batch::current() != nullptr ? Batch::current()->number() : -1);
}

namespace {

const char* name_of(Access::Mode mode) { return mode == Access::Mode::in ? "in" : mode == Access::Mode::out ? "out" : "inout"; }

std::string dot_of(const TaskGraph& graph) {
  std::string text = "digraph tasks {\n  node [shape=box];\n";
  int number = 0;
  for (const TaskGraph::Task& task : graph.tasks()) {
    text += fmt::format("  t{} [label=\"{}", number, task.codelet);
    if (task.block >= 0) text += fmt::format("\\nblock {}", task.block);
    text += "\"];\n";
    for (const int before : task.after) text += fmt::format("  t{} -> t{};\n", before, number);
    ++number;
  }
  return text + "}\n";
}

std::string json_of(const TaskGraph& graph) {
  std::string text = "{\"tasks\":[\n";
  int number = 0;
  for (const TaskGraph::Task& task : graph.tasks()) {
    std::vector<std::string> data;
    for (const auto& [of_data, mode] : task.uses) data.push_back(fmt::format("[{},\"{}\"]", of_data, name_of(mode)));
    text += fmt::format(
        "{}{{\"id\":{},\"codelet\":\"{}\",\"owner\":{},\"block\":{},\"batch\":{},\"flops\":{:.0f},\"bytes\":{:.0f},\"urgent\":{},"
        "\"refresh\":{},\"cpu\":"
        "{},"
        "\"cuda\":{},\"after\":[{}],\"data\":[{}]}}",
        number == 0 ? "" : ",\n", number, task.codelet, task.owner, task.block, task.batch, task.cost.flops, task.cost.bytes, task.urgent,
        task.refresh, task.on_cpu, task.on_cuda, fmt::join(task.after, ","), fmt::join(data, ","));
    ++number;
  }
  text += "\n],\"data\":[\n";
  for (std::size_t d = 0; d < graph.data().size(); ++d)
    text += fmt::format("{}{{\"id\":{},\"bytes\":{}}}", d == 0 ? "" : ",\n", d, graph.data()[d]);
  return text + "\n]}\n";
}

}  // namespace

void write_task_graph(const TaskGraph& graph, const std::string& path) {
  AtomicFile file(path);
  file.append(path.ends_with(".dot") ? dot_of(graph) : json_of(graph));
  file.commit();
}

}  // namespace quarkstar::runtime
