#include "apps/report/timeline.hpp"

#include <algorithm>

namespace quarkstar::app {
namespace {

/// As many as a row of a page can show apart, for each worker.
constexpr std::size_t shown_tasks_a_worker = 60;

/// Events of all workers in order of their start, without those that ran beside others of their GPU.
std::vector<TimelineTask> all_tasks(runtime::Session& session) {
  std::vector<TimelineTask> tasks;
  for (int worker = 0; worker < session.events().workers(); ++worker)
    for (const runtime::Event& event : session.events().of_worker(worker))
      if (!event.skipped && !event.side) tasks.push_back({worker, event.block, event.name, event.begin_us, event.end_us, event.kind});
  std::sort(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) { return a.begin_us < b.begin_us; });
  return tasks;
}

}  // namespace

void record_timeline(runtime::Session& session, RunReport& report) {
  const std::vector<TimelineTask> tasks = all_tasks(session);
  double begin = 0, end = 0;
  if (!tasks.empty()) {
    begin = tasks.front().begin_us;
    for (const TimelineTask& task : tasks) end = std::max(end, task.end_us);
  }
  report.workers.clear();
  for (std::size_t id = 0; id < session.workers().size(); ++id) {
    const runtime::Worker& worker = session.workers()[id];
    double busy = 0;
    for (const TimelineTask& task : tasks)
      if (task.worker == static_cast<int>(id)) busy += task.end_us - task.begin_us;
    report.workers.push_back({worker.name, worker.kind == runtime::Worker::Kind::cpu ? "CPU" : "CUDA", worker.team.cores(),
                              end > begin ? busy / (end - begin) : 0});
  }
  const std::size_t count = std::min(tasks.size(), shown_tasks_a_worker * report.workers.size());
  const auto first = tasks.begin() + static_cast<std::ptrdiff_t>((tasks.size() - count) / 2);
  report.timeline.assign(first, first + static_cast<std::ptrdiff_t>(count));
}

void record_worker_times(runtime::WorkerProfile& profile, RunReport& report) {
  const std::vector<runtime::WorkerTimes> times = profile.times();
  for (std::size_t id = 0; id < std::min(times.size(), report.workers.size()); ++id) report.workers[id].times = times[id];
  report.links = profile.links();
}

}  // namespace quarkstar::app
