#include "apps/simulation/replay.hpp"

#include "runtime/graph/batch.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/early_copy.hpp"
#include "runtime/system/clock.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <optional>

namespace quarkstar::app {
namespace {

using runtime::Access;

Access::Mode mode_of(const std::string& name) {
  if (name == "in") return Access::Mode::in;
  return name == "out" ? Access::Mode::out : Access::Mode::inout;
}

/// For the life of the program, as the runtime wants them.
const runtime::Codelet& codelet_of(const std::string& name) {
  static std::map<std::string, std::unique_ptr<runtime::Codelet>> all;
  std::unique_ptr<runtime::Codelet>& codelet = all[name];
  if (codelet == nullptr) codelet = std::make_unique<runtime::Codelet>(name, [](runtime::Call&) {});
  return *codelet;
}

void submit(const std::string& codelet, const std::vector<Access>& accesses, runtime::Cost cost, const runtime::Placement& placement) {
  constexpr char nothing = 0;
  runtime::detail::submit(codelet_of(codelet), &nothing, 0, accesses, cost, placement);
}

int owners_of(const ReplayGraph& graph) {
  int owners = 0;
  for (const ReplayGraph::Task& task : graph.tasks) owners = std::max(owners, task.owner + 1);
  return owners;
}

/// The owners of those who write a piece of data, and who read it.
struct Users {
  std::vector<int> writers, readers;
};

using Tasks = std::vector<ReplayGraph::Task>::const_iterator;

/// Behind the tasks that are one batch with this one.
Tasks end_of_batch(Tasks task, Tasks end) {
  return std::find_if(task + 1, end, [&](const ReplayGraph::Task& other) { return task->batch < 0 || other.batch != task->batch; });
}

void add(std::vector<int>& owners, int owner) {
  if (std::find(owners.begin(), owners.end(), owner) == owners.end()) owners.push_back(owner);
}

}  // namespace

ReplayGraph read_graph(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorKind::environment, path, "cannot be read", "give the file that `solve --graph FILE.json` wrote");
  ReplayGraph graph;
  try {
    const nlohmann::json json = nlohmann::json::parse(file);
    for (const auto& one : json.at("data")) {
      const auto bytes = one.at("bytes").get<std::int64_t>();
      if (bytes < 0)
        throw Error(ErrorKind::input, path, fmt::format("data {}: bytes {} is negative", graph.data.size(), bytes),
                    "give the file that `solve --graph FILE.json` wrote");
      graph.data.push_back(static_cast<std::size_t>(bytes));
    }
    for (const auto& one : json.at("tasks")) {
      ReplayGraph::Task task{one.at("codelet"),
                             one.at("owner"),
                             one.at("block"),
                             one.at("flops"),
                             one.at("bytes"),
                             one.value("urgent", false),
                             one.value("refresh", false),
                             one.value("batch", -1),
                             {}};
      for (const auto& use : one.at("data")) task.data.emplace_back(use.at(0).get<std::size_t>(), use.at(1).get<std::string>());
      const auto refuse = [&](const std::string& what) {
        throw Error(ErrorKind::input, path, fmt::format("task {}: {}", graph.tasks.size(), what),
                    "give the file that `solve --graph FILE.json` wrote");
      };
      if (task.owner < 0) refuse(fmt::format("owner {} is no worker", task.owner));
      for (const auto& [number, mode] : task.data) {
        if (number >= graph.data.size()) refuse(fmt::format("data {} of {} are not there", number, graph.data.size()));
        if (mode != "in" && mode != "out" && mode != "inout") refuse(fmt::format("data {} are used as '{}'", number, mode));
      }
      graph.tasks.push_back(std::move(task));
    }
  } catch (const nlohmann::json::exception& wrong) {
    throw Error(ErrorKind::input, path, fmt::format("this is no task graph ({})", wrong.what()),
                "give the file that `solve --graph FILE.json` wrote");
  }
  if (graph.tasks.empty()) throw Error(ErrorKind::input, path, "the graph has no tasks", "give one of a solve");
  return graph;
}

ReplayGraph in_groups(const ReplayGraph& graph, int groups, double volume) {
  constexpr std::size_t small = 64 * 1024;
  std::vector<bool> written(graph.data.size(), false);
  for (const ReplayGraph::Task& task : graph.tasks)
    for (const auto& [number, mode] : task.data) written[number] = written[number] || mode != "in";
  ReplayGraph all;
  for (const std::size_t bytes : graph.data)
    all.data.push_back(bytes > small ? static_cast<std::size_t>(volume * static_cast<double>(bytes)) : bytes);
  std::vector<std::vector<std::size_t>> numbers(static_cast<std::size_t>(groups));  // by group, of each piece of data
  for (std::size_t group = 0; group < numbers.size(); ++group)
    for (std::size_t number = 0; number < graph.data.size(); ++number) {
      const bool own = group > 0 && written[number];
      numbers[group].push_back(own ? all.data.size() : number);
      if (own) all.data.push_back(all.data[number]);
    }
  const int owners = owners_of(graph);
  for (auto begin = graph.tasks.begin(); begin != graph.tasks.end();) {
    const auto end = end_of_batch(begin, graph.tasks.end());
    for (std::size_t group = 0; group < numbers.size(); ++group)
      for (auto task = begin; task != end; ++task) {
        const bool grows =
            std::any_of(task->data.begin(), task->data.end(), [&](const auto& use) { return graph.data[use.first] > small; });
        ReplayGraph::Task& copy = all.tasks.emplace_back(*task);
        copy.owner += static_cast<int>(group) * owners;
        if (copy.batch >= 0) copy.batch = copy.batch * groups + static_cast<int>(group);
        if (grows) copy.flops *= volume, copy.bytes *= volume;
        for (auto& [number, mode] : copy.data) number = numbers[group][number];
      }
    begin = end;
  }
  return all;
}

Replayed replay(const ReplayGraph& graph, runtime::Session& session) {
  const int owners = owners_of(graph);
  const auto here = [&](int owner) { return owner * session.block_owners() / owners; };
  std::vector<std::optional<int>> first(graph.data.size());  // owner whose memory has the data before anything is written
  std::vector<Users> users(graph.data.size());
  for (const ReplayGraph::Task& task : graph.tasks)
    for (const auto& [number, mode] : task.data) {
      if (!first[number]) first[number] = here(task.owner);
      add(mode == "in" ? users[number].readers : users[number].writers, here(task.owner));
    }
  std::vector<runtime::Handle> data;
  for (const std::size_t bytes : graph.data) data.emplace_back(bytes);
  {
    const runtime::OnOwners there(session);
    for (std::size_t number = 0; number < data.size(); ++number)
      if (first[number]) submit("replay.begin", {runtime::out(data[number])}, {}, {.owner = *first[number]});
    for (std::size_t number = 0; number < data.size(); ++number)
      if (users[number].writers.empty())
        for (const int reader : users[number].readers) submit("replay.begin", {runtime::in(data[number])}, {}, {.owner = reader});
    session.wait_all();
  }
  if (runtime::copies_early_under(session.options().policy))
    for (std::size_t number = 0; number < data.size(); ++number)
      if (const auto& [writers, readers] = users[number]; writers.size() == 1 && readers.size() == 1)
        runtime::copy_early(data[number], writers.front(), readers.front());
  session.events().reset();
  runtime::WorkerProfile profile(session);
  profile.restart();
  const double begin = runtime::now_us();
  const auto submit_task = [&](const ReplayGraph::Task& task) {
    std::vector<Access> accesses;
    for (const auto& [number, mode] : task.data) accesses.push_back({&data[number], mode_of(mode)});
    submit(task.codelet, accesses, {task.flops, task.bytes},
           {.owner = here(task.owner),
            .block = task.block,
            .urgent = task.urgent,
            .role = task.refresh ? runtime::Role::refresh : runtime::Role::work});
  };
  for (auto task = graph.tasks.begin(); task != graph.tasks.end();) {
    const auto next = end_of_batch(task, graph.tasks.end());
    std::optional<runtime::Batch> batch;
    // What lets several owners' tasks be one (who writes apart from whom, which steps all take) is not in the file.
    if (task->batch >= 0 && std::all_of(task, next, [&](const ReplayGraph::Task& other) { return other.owner == task->owner; }))
      batch.emplace();
    std::for_each(task, next, submit_task);
    if (batch) batch->submit();
    task = next;
  }
  session.wait_all();
  const double end = runtime::now_us();
  return {end - begin, profile.times(), profile.links()};
}

}  // namespace quarkstar::app
