// The graph of what was submitted against the order of data accesses, its files, and the log of what a policy decided.
#include "runtime/observe/decisions.hpp"

#include "runtime/graph/batch.hpp"
#include "runtime/observe/task_graph.hpp"
#include "tests/unit/runtime_support.hpp"
#include "tests/unit/temporary_path.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace decisions_test {

using namespace quarkstar;
using namespace quarkstar::runtime;
using nlohmann::json;
using runtime_testing::options;
using runtime_testing::Script;
using testing::TemporaryPath;

namespace {

/// A task of a random program: the data that it uses, and whether it writes them.
struct RandomTask {
  std::vector<std::pair<std::size_t, bool>> uses;
};

std::vector<RandomTask> random_program(std::uint64_t seed, int tasks, std::size_t data) {
  std::mt19937_64 random(seed);
  std::vector<RandomTask> program(static_cast<std::size_t>(tasks));
  for (RandomTask& task : program)
    for (std::size_t d = 0; d < data; ++d)
      if (random() % 3 == 0) task.uses.emplace_back(d, random() % 2 == 0);
  return program;
}

/// Whether the later of two tasks must wait for the other: one of them writes what both use.
bool conflict(const RandomTask& a, const RandomTask& b) {
  for (const auto& [data, writes] : a.uses)
    for (const auto& [other, other_writes] : b.uses)
      if (data == other && (writes || other_writes)) return true;
  return false;
}

/// reach[j][i]: whether task j waits for task i, directly or not.
std::vector<std::vector<bool>> closure(std::size_t count, const auto& waits_for) {
  std::vector<std::vector<bool>> reach(count, std::vector<bool>(count, false));
  for (std::size_t j = 0; j < count; ++j)
    for (std::size_t i = 0; i < j; ++i)
      if (waits_for(j, i)) {
        reach[j][i] = true;
        for (std::size_t k = 0; k < i; ++k)
          if (reach[i][k]) reach[j][k] = true;
      }
  return reach;
}

void submit(Script& script, const std::vector<RandomTask>& program, const std::vector<Handle>& data, int workers) {
  int number = 0;
  for (const RandomTask& task : program) {
    AccessList accesses;
    for (const auto& [d, writes] : task.uses) accesses.push_back(writes ? inout(data[d]) : in(data[d]));
    script.submit(
        [](Call&) {}, accesses,
        {.owner = number % workers, .block = number, .urgent = number % 3 == 0, .role = number % 5 == 0 ? Role::refresh : Role::step},
        {10.0 * number, 8.0 * number});
    ++number;
  }
}

std::vector<Handle> zeros(std::size_t count) {
  std::vector<Handle> data;
  for (std::size_t d = 0; d < count; ++d) {
    data.emplace_back(8 * (d + 1));
    *HostView<double>(data.back(), HostAccess::overwrite) = 0;
  }
  return data;
}

}  // namespace

TEST_CASE("the graph's file has every task, and the dependencies of the order in which data are used") {
  constexpr std::uint64_t seed = 90125;
  MESSAGE("seed " << seed);
  const std::vector<RandomTask> program = random_program(seed, 60, 7);
  const TemporaryPath as_json(".json"), as_dot(".dot");
  {
    const Session session(options(2));
    const std::vector<Handle> data = zeros(7);
    Script script;
    const GraphRecording recording;
    submit(script, program, data, 2);
    write_task_graph(recording.graph(), as_json.text());
    write_task_graph(recording.graph(), as_dot.text());
  }
  std::ifstream stream(as_json.text());
  const json graph = json::parse(stream);
  const json& tasks = graph.at("tasks");
  REQUIRE(tasks.size() == program.size());
  std::vector<std::vector<std::size_t>> after;
  std::size_t edges = 0;
  for (std::size_t j = 0; j < tasks.size(); ++j) {
    CHECK(tasks[j].at("id") == j);
    CHECK(tasks[j].at("block") == j);
    CHECK(tasks[j].at("owner") == j % 2);
    CHECK(tasks[j].at("bytes") == 8 * j);
    CHECK(tasks[j].at("urgent") == (j % 3 == 0));
    CHECK(tasks[j].at("refresh") == (j % 5 == 0));
    after.push_back(tasks[j].at("after").get<std::vector<std::size_t>>());
    for (const std::size_t i : after.back()) CHECK(i < j);  // acyclic
    edges += after.back().size();
    REQUIRE(tasks[j].at("data").size() == program[j].uses.size());
    for (std::size_t u = 0; u < program[j].uses.size(); ++u) {
      const json& use = tasks[j].at("data")[u];
      CHECK(graph.at("data").at(use[0].get<std::size_t>()).at("bytes") == 8 * (program[j].uses[u].first + 1));
      CHECK(use[1] == (program[j].uses[u].second ? "inout" : "in"));
    }
  }
  const auto recorded =
      closure(tasks.size(), [&](std::size_t j, std::size_t i) { return std::find(after[j].begin(), after[j].end(), i) != after[j].end(); });
  const auto expected = closure(tasks.size(), [&](std::size_t j, std::size_t i) { return conflict(program[i], program[j]); });
  CHECK(recorded == expected);

  std::ifstream dot(as_dot.text());
  std::size_t nodes = 0, arrows = 0;
  for (std::string line; std::getline(dot, line);) {
    nodes += line.find("[label=") != std::string::npos;
    arrows += line.find(" -> ") != std::string::npos;
  }
  CHECK(nodes == program.size());
  CHECK(arrows == edges);
}

TEST_CASE("tasks of the graph have the number of their batch") {
  const Session session(options(1));
  const std::vector<Handle> data = zeros(1);
  const GraphRecording recording;
  Script script;
  const auto submit_two = [&] {
    for (int i = 0; i < 2; ++i) script.submit([](Call&) {}, {inout(data[0])});
  };
  submit_two();
  for (int batch = 0; batch < 2; ++batch) {
    Batch collecting;
    submit_two();
    collecting.submit();
  }
  std::vector<int> batches;
  for (const TaskGraph::Task& task : recording.graph().tasks()) batches.push_back(task.batch);
  REQUIRE(batches.size() == 6);
  const int first = batches[2];
  CHECK(first >= 0);
  CHECK(batches == std::vector<int>{-1, -1, first, first, first + 1, first + 1});
}

TEST_CASE("data that have gone leave no dependency to what comes at their address") {
  const Session session(options(1));
  const GraphRecording recording;
  Script script;
  for (int i = 0; i < 4; ++i) {
    const Handle data(1 << 20);
    script.submit([](Call&) {}, {out(data)});
  }
  for (const TaskGraph::Task& task : recording.graph().tasks()) CHECK(task.after.empty());
  CHECK(recording.graph().data().size() == 4);
}

TEST_CASE("a log of decisions keeps the first tasks for which it has room") {
  const auto logged = [](std::size_t most_tasks, std::size_t most_choices) {
    Decisions decisions(most_tasks, most_choices);
    const TemporaryPath path(".json");
    Session session(options(3, 1, "eager"));
    {
      const std::vector<Handle> data = zeros(3);
      Script script;
      submit(script, random_program(5, 40, 3), data, 3);
    }
    session.wait_all();
    decisions.write(session, path.text());
    std::ifstream stream(path.text());
    const json written = json::parse(stream);
    CHECK(written.at("tasks").size() == decisions.tasks().size());
    for (const Decisions::Task& task : decisions.tasks()) CHECK(task.end_us > 0);
    return std::pair(decisions.tasks().size(), written.at("left_out").get<std::size_t>());
  };
  const auto [all, none] = logged(1000, 1000);
  CHECK(none == 0);
  CHECK(logged(7, 1000) == std::pair(std::size_t{7}, all - 7));
  CHECK(logged(1000, 16) == std::pair(std::size_t{5}, all - 5));  // three choices each
}

TEST_CASE("decisions are logged for every task under every kind of policy, in an order that data allow") {
  constexpr std::uint64_t seed = 2112;
  MESSAGE("seed " << seed);
  constexpr int workers = 3;
  const std::vector<RandomTask> program = random_program(seed, 80, 9);
  for (const char* policy : {"static", "halo-first", "dmda", "eager", "lws"}) {
    INFO(policy);
    const TemporaryPath path(".json");
    Decisions decisions;
    {
      Session session(options(workers, 1, policy));
      {
        const std::vector<Handle> data = zeros(9);
        Script script;
        submit(script, program, data, workers);
      }
      session.wait_all();
      decisions.write(session, path.text());
    }
    std::vector<const Decisions::Task*> of_program(program.size(), nullptr);
    for (const Decisions::Task& task : decisions.tasks()) {
      if (task.block < 0) continue;
      const auto number = static_cast<std::size_t>(task.block);
      REQUIRE(number < program.size());
      CHECK(of_program[number] == nullptr);
      of_program[number] = &task;
      CHECK(task.choices.size() == workers);
      CHECK(task.owner == task.block % workers);
      for (const Decisions::Choice& choice : task.choices) {
        CHECK(choice.length_us > 0);
        CHECK(choice.free_us >= 0);
        CHECK(choice.moving_us == 0);  // one memory
      }
      CHECK(task.soonest() >= 0);
      CHECK(task.worker >= 0);
      if (policy == std::string("static")) CHECK(task.worker == task.owner);
      CHECK(task.ready_us <= task.begin_us);
      CHECK(task.begin_us <= task.end_us);
    }
    for (std::size_t j = 0; j < program.size(); ++j) {
      REQUIRE(of_program[j] != nullptr);
      for (std::size_t i = 0; i < j; ++i)
        if (conflict(program[i], program[j])) CHECK(of_program[i]->end_us <= of_program[j]->ready_us);
    }
    std::ifstream stream(path.text());
    const json written = json::parse(stream);
    CHECK(written.at("policy") == policy);
    CHECK(written.at("workers").size() == workers);
    CHECK(written.at("left_out") == 0);
    CHECK(written.at("tasks").size() == decisions.tasks().size());
  }
}

}  // namespace decisions_test
