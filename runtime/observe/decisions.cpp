#include "runtime/observe/decisions.hpp"

#include "runtime/graph/session.hpp"
#include "runtime/graph/task_record.hpp"
#include "runtime/policy/placing.hpp"
#include "runtime/system/atomic_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace quarkstar::runtime {

struct Decisions::Log {
  std::mutex mutex;
  std::vector<Task> tasks;
  std::size_t most_tasks, most_choices, choices = 0;       ///< choices: that there is room for, of all tasks
  std::size_t left_out = 0;                                ///< tasks
  std::unordered_map<const void*, std::size_t> alive;      ///< tasks that have not ended, by their record
  std::array<double, STARPU_NMAXWORKERS> busy_until_us{};  ///< when the task that a worker runs is expected to end
  starpu_sched_policy watched{};                           ///< the policy, with another push_task
  int (*push)(starpu_task*) = nullptr;                     ///< its own
  static std::unique_ptr<Log> current;

  /// What does not need the lock.
  static std::vector<Choice> choices_of(starpu_task* task) {
    const auto workers = static_cast<int>(starpu_worker_get_count());
    std::vector<Choice> of_task;
    of_task.reserve(static_cast<std::size_t>(workers));
    for (int worker = 0; worker < workers; ++worker)
      if (placing::can_execute(task, worker))
        of_task.push_back(
            {worker, 0, static_cast<float>(placing::moving_us(task, worker)), static_cast<float>(placing::expected_us(task, worker))});
    return of_task;
  }

  /// Under the lock. What comes after the first that is left out is left out too.
  Task* add(const detail::TaskRecord* record, double now, std::vector<Choice> of_task) {
    if (left_out > 0 || tasks.size() >= most_tasks || choices + of_task.capacity() > most_choices) {
      ++left_out;
      return nullptr;
    }
    for (Choice& choice : of_task)
      choice.free_us = static_cast<float>(std::max(0.0, busy_until_us[static_cast<std::size_t>(choice.worker)] - now));
    choices += of_task.capacity();
    alive[record] = tasks.size();
    tasks.push_back({record->codelet->name(), record->placement.block, record->placement.owner, std::move(of_task), -1, now, 0, 0});
    return &tasks.back();
  }

  static int push_and_log(starpu_task* task) {
    Log& log = *current;
    if (const detail::TaskRecord* record = placing::record_of(task); record != nullptr) {
      const double now = starpu_timing_now();
      std::vector<Choice> of_task = choices_of(task);
      const std::lock_guard guard(log.mutex);
      log.add(record, now, std::move(of_task));
    }
    return log.push(task);
  }
};
std::unique_ptr<Decisions::Log> Decisions::Log::current;

Decisions::Decisions(std::size_t most_tasks, std::size_t most_choices) {
  Log::current = std::make_unique<Log>();
  Log::current->most_tasks = most_tasks;
  Log::current->most_choices = most_choices;
}
Decisions::~Decisions() { Log::current.reset(); }

int Decisions::Task::soonest() const {
  const auto first =
      std::min_element(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) { return a.end_us() < b.end_us(); });
  return first == choices.end() ? -1 : first->worker;
}

const std::vector<Decisions::Task>& Decisions::tasks() const { return Log::current->tasks; }

starpu_sched_policy* Decisions::watched(starpu_sched_policy* policy, const std::string& name) {
  if (Log::current == nullptr) return policy;
  if (policy == nullptr)
    for (starpu_sched_policy** known = starpu_sched_get_predefined_policies(); *known != nullptr; ++known)
      if ((*known)->policy_name == name) policy = *known;
  if (policy == nullptr) return nullptr;
  Log& log = *Log::current;
  log.watched = *policy;
  log.push = policy->push_task;
  log.watched.push_task = Log::push_and_log;
  return &log.watched;
}

void Decisions::begins(const detail::TaskRecord* record, int worker) {
  if (Log::current == nullptr) return;
  Log& log = *Log::current;
  const double now = starpu_timing_now();
  const std::lock_guard guard(log.mutex);
  const auto known = log.alive.find(record);
  // What the policy has not seen is tied to a worker, or was left out when it came.
  const bool is_new = log.push == nullptr || starpu_task_get_current()->execute_on_a_specific_worker != 0;
  Task* task = known != log.alive.end() ? &log.tasks[known->second] : is_new ? log.add(record, now, {}) : nullptr;
  if (task == nullptr) return;
  task->worker = worker;
  task->begin_us = now;
  for (const Choice& choice : task->choices)
    if (choice.worker == worker) log.busy_until_us[static_cast<std::size_t>(worker)] = now + choice.length_us;
}

void Decisions::ends(const detail::TaskRecord* record) {
  if (Log::current == nullptr) return;
  Log& log = *Log::current;
  const std::lock_guard guard(log.mutex);
  const auto known = log.alive.find(record);
  if (known == log.alive.end()) return;
  Task& task = log.tasks[known->second];
  task.end_us = starpu_timing_now();
  log.busy_until_us[static_cast<std::size_t>(task.worker)] = 0;
  log.alive.erase(known);
}

void Decisions::write(const Session& session, const std::string& path) const {
  const Log& log = *Log::current;
  std::vector<std::string> names;
  for (const Worker& worker : session.workers()) names.push_back(fmt::format("\"{}\"", worker.name));
  AtomicFile file(path);
  std::string text = fmt::format("{{\"policy\":\"{}\",\"workers\":[{}],\"left_out\":{},\"tasks\":[\n", session.options().policy,
                                 fmt::join(names, ","), log.left_out);
  const double origin = log.tasks.empty() ? 0 : log.tasks.front().ready_us;
  for (std::size_t i = 0; i < log.tasks.size(); ++i) {
    const Task& task = log.tasks[i];
    std::vector<std::string> choices;
    for (const Choice& choice : task.choices)
      choices.push_back(fmt::format("{{\"worker\":{},\"free_us\":{:.3f},\"moving_us\":{:.3f},\"length_us\":{:.3f}}}", choice.worker,
                                    choice.free_us, choice.moving_us, choice.length_us));
    text += fmt::format(
        "{}{{\"codelet\":\"{}\",\"block\":{},\"owner\":{},\"soonest\":{},\"worker\":{},\"ready_us\":{:.3f},\"begin_us\":{:.3f},"
        "\"took_us\":{:.3f},\"choices\":[{}]}}",
        i == 0 ? "" : ",\n", task.codelet, task.block, task.owner, task.soonest(), task.worker, task.ready_us - origin,
        task.begin_us - origin, task.end_us - task.begin_us, fmt::join(choices, ","));
    if (text.size() < 1 << 20) continue;
    file.append(text);
    text.clear();
  }
  file.append(text + "\n]}\n");
  file.commit();
}

}  // namespace quarkstar::runtime
