#pragma once
// The graph of what was submitted: each task with what it has to wait for.
#include "runtime/graph/codelet.hpp"

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace quarkstar::runtime {

/// Tasks in the order of their submission, which is an order in which they could run.
class TaskGraph {
 public:
  struct Task {
    Cost cost;
    bool on_cpu = true, on_cuda = false;                  ///< which workers have an implementation
    std::vector<int> after;                               ///< tasks that must have ended, by number
    std::string_view codelet = {};                        ///< its name, which outlives the graph; empty: of no codelet
    int owner = 0, block = -1;                            ///< as Placement has them
    bool urgent = false, refresh = false;                 ///< its role is one of a refresh, which works where one is due
    int batch = -1;                                       ///< number of the Batch that it is a part of; -1: of none
    std::vector<std::pair<int, Access::Mode>> uses = {};  ///< numbers of data, in the order of first use, and how they are used
  };

  /// Data that a task uses, told apart by address.
  struct Use {
    const void* data;
    Access::Mode mode;
    bool apart = false;     ///< Access::apart
    std::size_t bytes = 0;  ///< of the data
  };

  /// One more task. It waits for the latest writers of what it reads, and for the latest writers and readers of what it writes.
  void add(const Cost& cost, bool on_cpu, bool on_cuda, std::span<const Use> uses, std::string_view codelet = {},
           const Placement& placement = {}, int batch = -1);

  /// The data have gone: what is used at their address from now on are others.
  void forget(const void* data) { states_.erase(data); }

  const std::vector<Task>& tasks() const { return tasks_; }
  /// Bytes of each piece of data, by number.
  const std::vector<std::size_t>& data() const { return data_; }
  Cost total() const;

 private:
  /// Who used a piece of data last.
  struct State {
    std::vector<int> writers, readers;  ///< readers since then
    std::vector<int> before;            ///< what a writer apart from `writers` waits for
    bool apart = false;                 ///< writers write bytes of their own
    int number = -1;
  };
  std::vector<Task> tasks_;
  std::vector<std::size_t> data_;
  std::unordered_map<const void*, State> states_;
};

/// While one lives, what this thread submits is added to a graph, the parts of batches one by one. Beyond most_tasks nothing is added: an
/// iteration more looks like those before.
class GraphRecording {
 public:
  static constexpr std::size_t most_tasks = 200'000;

  GraphRecording();
  ~GraphRecording();
  GraphRecording(const GraphRecording&) = delete;
  GraphRecording& operator=(const GraphRecording&) = delete;

  const TaskGraph& graph() const { return graph_; }

  /// Whether this thread records.
  static bool is_active();

  /// For whoever submits: adds to the graph that this thread records, if any.
  static void note(const Codelet& codelet, const Cost& cost, std::span<const Access> accesses, const Placement& placement);

  /// For handles that go, also during a Pause. On the thread that records: one that went on another would leave its address to the next.
  static void gone(const void* data);

  /// While one lives, nothing is added: what is submitted has been noted before.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    bool paused_before_;
  };

 private:
  TaskGraph graph_;
};

/// Writes a graph: as DOT, a node for each task, where the name of the file ends in .dot, else as JSON: `tasks` (`id`, `codelet`, `owner`,
/// `block`, `batch`, `flops`, `bytes`, `urgent`, `refresh`, `cpu`, `cuda`, `after`: ids of those that it waits for, `data`: pairs of number
/// and in, out or inout) and `data` (`id`, `bytes`). Throws Error(environment) when the file cannot be written.
void write_task_graph(const TaskGraph& graph, const std::string& path);

}  // namespace quarkstar::runtime
