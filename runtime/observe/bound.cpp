#include "runtime/observe/bound.hpp"

#include "runtime/system/error.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace quarkstar::runtime {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

double duration_us(const TaskGraph::Task& task, const WorkerKind& kind, double launch_us) {
  if (!(kind.cuda ? task.on_cuda : task.on_cpu)) return never;
  const auto known = kind.rates.find(task.codelet);
  return launch_us + 1e-3 * task.cost.bytes / (known != kind.rates.end() ? known->second : kind.gbs);
}

double least_us(const TaskGraph::Task& task, std::span<const WorkerKind> kinds, double launch_us) {
  double least = never;
  for (const WorkerKind& kind : kinds) least = std::min(least, duration_us(task, kind, launch_us));
  return least;
}

/// A task's durations on two kinds of workers.
struct Pair {
  double one, two;
};

/// The linear programme for two kinds with m and n workers, at least one of which can run each task.
double two_kinds_us(std::vector<Pair> tasks, double m, double n) {
  // Those that only one can run stay there; the others go from kind one to kind two, the ones first that gain most by it.
  double one = 0, two = 0;
  std::erase_if(tasks, [&](const Pair& task) {
    if (task.one == never) two += task.two;
    else if (task.two == never) one += task.one;
    return task.one == never || task.two == never;
  });
  for (const Pair& task : tasks) one += task.one;
  std::sort(tasks.begin(), tasks.end(), [](const Pair& a, const Pair& b) { return a.one * b.two > b.one * a.two; });
  for (const Pair& task : tasks) {
    const double gap = one / m - two / n;  // what kind one has more
    const double closes = task.one / m + task.two / n;
    if (gap <= 0) break;
    const double part = std::min(1.0, closes > 0 ? gap / closes : 1.0);
    one -= part * task.one;
    two += part * task.two;
  }
  return std::max(one / m, two / n);
}

double assignment_us(const TaskGraph& graph, std::span<const WorkerKind> kinds, double launch_us) {
  double bound = 0;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    std::vector<WorkerKind> others(kinds.begin(), kinds.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
    int count = 0;
    for (const WorkerKind& other : others) count += other.workers;
    std::vector<Pair> tasks;
    for (const TaskGraph::Task& task : graph.tasks()) {
      const Pair pair{duration_us(task, kinds[k], launch_us), least_us(task, others, launch_us)};
      if (pair.one != never || pair.two != never) tasks.push_back(pair);
    }
    bound = std::max(bound, two_kinds_us(std::move(tasks), kinds[k].workers, std::max(1, count)));
    if (kinds.size() == 2) break;  // the other way round is the same
  }
  return bound;
}

constexpr int anywhere = -1;

/// What was last written to a piece of data.
struct Written {
  int task = -1;          ///< the last writer; -1: none
  int memory = anywhere;  ///< where it is
  double begin_us = 0;    ///< of the writer
  std::vector<int> copies = {};
};

/// Microseconds that bytes take at so many GB/s; 0 where there is no way.
double way_us(double bytes, double gbs) { return gbs > 0 ? 1e-3 * bytes / gbs : 0; }

double owners_us(const TaskGraph& graph, std::span<const WorkerKind> kinds, double launch_us, const Owners& owners) {
  std::vector<double> ends, loads(owners.workers.size()), into_bytes(owners.gbs.size());
  std::vector<Written> written(graph.data().size());
  double bound = 0;
  for (const TaskGraph::Task& task : graph.tasks()) {
    const auto owner = static_cast<std::size_t>(task.owner);
    double takes = never;
    if (owner < owners.workers.size())
      for (const WorkerKind& kind : kinds)
        if (kind.cuda == owners.workers[owner].cuda) takes = std::min(takes, duration_us(task, kind, launch_us));
    const int memory = takes != never ? owners.workers[owner].memory : anywhere;
    if (takes != never) loads[owner] += takes;
    else takes = task.cost.bytes > 0 ? least_us(task, kinds, launch_us) : launch_us;

    double begin = 0;
    for (const int before : task.after) begin = std::max(begin, ends[static_cast<std::size_t>(before)]);
    double end = begin + takes;
    // One that does not wait for the last writer writes bytes of its own beside it.
    const auto waits_for = [&task](const Written& of) { return std::binary_search(task.after.begin(), task.after.end(), of.task); };
    for (const auto& [number, mode] : task.uses) {
      Written& of = written[static_cast<std::size_t>(number)];
      if (mode == Access::Mode::out || memory == anywhere || of.memory == anywhere || of.memory == memory || !waits_for(of)) continue;
      const auto to = static_cast<std::size_t>(memory);
      const auto bytes = static_cast<double>(graph.data()[static_cast<std::size_t>(number)]);
      const std::vector<double>& ways = owners.gbs.at(to);
      end = std::max(end, of.begin_us + way_us(bytes, *std::max_element(ways.begin(), ways.end())));
      if (std::find(of.copies.begin(), of.copies.end(), memory) != of.copies.end()) continue;
      of.copies.push_back(memory);
      into_bytes[to] += bytes;
    }
    const int number_of_task = static_cast<int>(ends.size());
    ends.push_back(end);
    bound = std::max(bound, end);
    for (const auto& [number, mode] : task.uses) {
      if (mode == Access::Mode::in) continue;
      Written& of = written[static_cast<std::size_t>(number)];
      of = {number_of_task, of.task >= 0 && !waits_for(of) ? anywhere : memory, begin};
    }
  }
  for (const double load : loads) bound = std::max(bound, load);
  for (std::size_t to = 0; to < into_bytes.size(); ++to) {
    const double gbs = std::accumulate(owners.gbs[to].begin(), owners.gbs[to].end(), 0.0);
    bound = std::max(bound, way_us(into_bytes[to], gbs));
  }
  return bound;
}

}  // namespace

double Bounds::best() const { return std::max({bandwidth_us, critical_path_us, assignment_us, owners_us}); }

Bounds lower_bounds(const TaskGraph& graph, std::span<const WorkerKind> all, double launch_us, const Owners* owners) {
  std::vector<WorkerKind> kinds;
  std::copy_if(all.begin(), all.end(), std::back_inserter(kinds), [](const WorkerKind& kind) { return kind.workers > 0 && kind.gbs > 0; });
  Bounds bounds;
  double bandwidth = 0;
  for (const WorkerKind& kind : kinds) bandwidth += kind.workers * kind.gbs;
  std::vector<double> ends;
  for (const TaskGraph::Task& task : graph.tasks()) {
    double takes = least_us(task, kinds, launch_us);
    if (takes == never && !(task.cost.bytes > 0)) takes = launch_us;
    if (takes == never)
      throw Error(ErrorKind::input, "lower_bounds", "a task that no kind of worker can run", "name the bandwidths of CPUs and GPUs");
    double begin = 0;
    for (const int before : task.after) begin = std::max(begin, ends[static_cast<std::size_t>(before)]);
    ends.push_back(begin + takes);
    bounds.critical_path_us = std::max(bounds.critical_path_us, ends.back());
  }
  if (bandwidth > 0) bounds.bandwidth_us = 1e-3 * graph.total().bytes / bandwidth;
  bounds.assignment_us = assignment_us(graph, kinds, launch_us);
  if (owners != nullptr) bounds.owners_us = owners_us(graph, kinds, launch_us, *owners);
  return bounds;
}

}  // namespace quarkstar::runtime
