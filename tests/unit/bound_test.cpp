// Lower bounds on graphs that can be solved by hand, and graphs recorded from submissions.
#include "runtime/observe/bound.hpp"

#include "runtime/graph/batch.hpp"
#include "runtime/observe/events.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

namespace bound_test {

using namespace quarkstar::runtime;
using quarkstar::Error;
using quarkstar::runtime_testing::options;
using Mode = Access::Mode;
using Use = TaskGraph::Use;

namespace {

constexpr double us = 1e3;  // bytes that take a microsecond at 1 GB/s

const int a = 0, b = 0, c = 0;  // addresses stand for data

WorkerKind cpus(int workers, double gbs) { return {false, workers, gbs, {}}; }
WorkerKind gpus(int workers, double gbs) { return {true, workers, gbs, {}}; }

Bounds bounds_of(const TaskGraph& graph, const std::vector<WorkerKind>& kinds, double launch_us = 0) {
  return lower_bounds(graph, kinds, launch_us);
}

/// Independent tasks of these lengths.
TaskGraph independent(const std::vector<double>& lengths, bool on_cpu = true, bool on_cuda = true) {
  TaskGraph graph;
  for (const double length : lengths) graph.add({0, length * us}, on_cpu, on_cuda, {});
  return graph;
}

}  // namespace

TEST_CASE("a task waits for the writers of what it reads and for the readers of what it writes") {
  TaskGraph graph;
  const auto add = [&](const std::vector<Use>& uses) { graph.add({1, us}, true, false, uses); };
  add({{&a, Mode::out}});                  // 0
  add({{&a, Mode::in}, {&b, Mode::out}});  // 1 after 0
  add({{&a, Mode::in}, {&c, Mode::out}});  // 2 after 0
  add({{&a, Mode::inout}});                // 3 after 0, 1, 2
  add({{&b, Mode::in}, {&c, Mode::in}});   // 4 after 1, 2
  add({{&a, Mode::in}, {&a, Mode::in}});   // 5 after 3
  const std::vector<std::vector<int>> expected{{}, {0}, {0}, {0, 1, 2}, {1, 2}, {3}};
  for (std::size_t task = 0; task < expected.size(); ++task) CHECK(graph.tasks()[task].after == expected[task]);
  CHECK(graph.total().flops == 6);
  // 0, 1 or 2, 3, 5: four tasks in a chain, six in all.
  const Bounds bounds = bounds_of(graph, {cpus(3, 1)});
  CHECK(bounds.critical_path_us == doctest::Approx(4));
  CHECK(bounds.bandwidth_us == doctest::Approx(2));
  CHECK(bounds.assignment_us == doctest::Approx(2));
  CHECK(bounds.best() == doctest::Approx(4));
}

TEST_CASE("writers of bytes of their own do not wait for each other") {
  TaskGraph graph;
  const auto add = [&](Mode mode, bool apart) {
    const Use use{&a, mode, apart};
    graph.add({1, us}, true, false, std::span(&use, 1));
  };
  add(Mode::out, false);   // 0
  add(Mode::inout, true);  // 1 after 0
  add(Mode::inout, true);  // 2 after 0
  add(Mode::in, false);    // 3 after 1, 2
  add(Mode::inout, true);  // 4 after 1, 2, 3
  const std::vector<std::vector<int>> expected{{}, {0}, {0}, {1, 2}, {1, 2, 3}};
  for (std::size_t task = 0; task < expected.size(); ++task) CHECK(graph.tasks()[task].after == expected[task]);
}

TEST_CASE("two kinds of workers share what both can run") {
  // Ten tasks of 1 us at 1 GB/s; a GPU of 9 GB/s beside one CPU: together 10 GB/s.
  const Bounds both = bounds_of(independent(std::vector<double>(10, 1.0)), {gpus(1, 9), cpus(1, 1)});
  CHECK(both.bandwidth_us == doctest::Approx(1));
  CHECK(both.assignment_us == doctest::Approx(1));
  CHECK(both.critical_path_us == doctest::Approx(1.0 / 9));
}

TEST_CASE("durations go by codelet and kind of worker") {
  // A is nine times as fast on the GPU, B as fast on both: A to the GPU, B mostly to the CPU. A mean bandwidth would miss that.
  TaskGraph graph;
  graph.add({0, 9 * us}, true, true, {}, "a");
  graph.add({0, 3 * us}, true, true, {}, "b");
  WorkerKind cpu = cpus(1, 1), gpu = gpus(1, 9);
  cpu.rates = {{"a", 1}, {"b", 1}};
  gpu.rates = {{"a", 9}, {"b", 1}};
  // A 1 us on the GPU; of B, 3 us on either, goes x over: 3 (1 - x) = 1 + 3 x, x = 1/3.
  CHECK(bounds_of(graph, {cpu, gpu}).assignment_us == doctest::Approx(2));
  CHECK(bounds_of(graph, {cpu, gpu}).critical_path_us == doctest::Approx(3));
  gpu.rates.erase("b");  // it did not run there: as fast as in A
  CHECK(bounds_of(graph, {cpu, gpu}).assignment_us == doctest::Approx(3 * (1 - (3 - 1) / (3 + 1.0 / 3))));
}

TEST_CASE("events keep the best and the mean rate of each codelet while they are watched") {
  Events events(1, false);
  const auto record = [&](const char* name, double us_of_task, bool skipped = false) {
    events.record(0, Event{name, 0, 10, 10 + us_of_task, {0, 6000}, skipped});
  };
  record("a", 1);
  CHECK(events.rates(0).empty());
  events.watch_rates(true);
  record("a", 2);
  record("a", 4);
  record("b", 6);
  record("b", 1, true);
  events.watch_rates(false);
  record("b", 1);
  REQUIRE(events.rates(0).size() == 2);
  CHECK(events.rates(0).at("a").best_gbs == doctest::Approx(3));
  CHECK(events.rates(0).at("a").bytes / events.rates(0).at("a").us == doctest::Approx(2000));
  CHECK(events.rates(0).at("b").best_gbs == doctest::Approx(1));
  events.watch_rates(true);
  CHECK(events.rates(0).empty());
}

TEST_CASE("tasks of one kind stay there") {
  // 6 us on CPUs only, 9 us anywhere; one CPU of 1 GB/s, one GPU of 9 GB/s. The GPU does the 9 in 1 us; the CPU needs 6 for its own.
  TaskGraph graph = independent({3, 3}, true, false);
  graph.add({0, 9 * us}, true, true, {});
  CHECK(bounds_of(graph, {cpus(1, 1), gpus(1, 9)}).assignment_us == doctest::Approx(6));
  CHECK(bounds_of(graph, {cpus(2, 1), gpus(1, 9)}).assignment_us == doctest::Approx(3));
  CHECK(bounds_of(graph, {cpus(1, 1), gpus(1, 9)}).bandwidth_us == doctest::Approx(1.5));
  CHECK_THROWS_AS(bounds_of(graph, {gpus(1, 9)}), Error);
  // A step without bytes bounds nothing, even where no kind is known to run it.
  TaskGraph with_step = independent({9.0, 9.0});
  with_step.add({1, 0}, true, false, {});
  CHECK(bounds_of(with_step, {gpus(1, 9)}).assignment_us == doctest::Approx(2));
}

TEST_CASE("a task without bytes asks for no bandwidth") {
  // Loads and stores of a solve on GPUs run on CPUs, which then have no bandwidth of their own.
  TaskGraph graph = independent({9});
  const Use use{&a, Mode::out};
  graph.add({0, 0}, true, false, std::span(&use, 1));
  for (const WorkerKind& cpu : {cpus(2, 0), cpus(0, 0)}) {
    const Bounds bounds = bounds_of(graph, {cpu, gpus(1, 9)});
    CHECK(bounds.critical_path_us == doctest::Approx(1));
    CHECK(bounds.assignment_us == doctest::Approx(1));
    CHECK(bounds.bandwidth_us == doctest::Approx(1));
  }
  CHECK(bounds_of(graph, {gpus(1, 9)}, 3).critical_path_us == doctest::Approx(4));
}

TEST_CASE("with a launch cost small tasks go where they lose least") {
  // A: 10 us of bytes on the CPU and 1 on the GPU; B: 2 and 0.2; each launch 1 us. Durations A 11, 2; B 3, 1.2.
  // A gains more by the GPU (5.5 against 2.5). A there and B on the CPU: 2 and 3; of B goes x over: 3 (1 - x) = 2 + 1.2 x, x = 1/4.2.
  const TaskGraph graph = independent({10, 2});
  const Bounds bounds = bounds_of(graph, {cpus(1, 1), gpus(1, 10)}, 1);
  CHECK(bounds.assignment_us == doctest::Approx(3 * (1 - 1 / 4.2)));
  CHECK(bounds.critical_path_us == doctest::Approx(2));
}

TEST_CASE("the assignment of two kinds is the minimum of the linear programme") {
  // The dual: for any price p in [0, 1] of kind one's time and 1 - p of kind two's, sum of min(p d1 / m, (1 - p) d2 / n) bounds from below.
  std::mt19937 random(20261121);
  for (int round = 0; round < 50; ++round) {
    TaskGraph graph;
    const int m = 1 + static_cast<int>(random() % 3), n = 1 + static_cast<int>(random() % 3);
    const double cpu = 1 + static_cast<double>(random() % 5), gpu = 1 + static_cast<double>(random() % 50),
                 launch = static_cast<double>(random() % 4);
    std::vector<std::pair<double, double>> durations;
    for (int task = 0; task < 12; ++task) {
      const double bytes = us * static_cast<double>(1 + random() % 100);
      const bool everywhere = random() % 3 != 0;
      graph.add({0, bytes}, true, everywhere, {});
      durations.emplace_back(launch + bytes / us / cpu, everywhere ? launch + bytes / us / gpu : 1e300);
    }
    double dual = 0;
    for (int step = 0; step <= 20000; ++step) {
      const double p = step / 20000.0;
      double sum = 0;
      for (const auto& [one, two] : durations) sum += std::min(p * one / m, two < 1e300 ? (1 - p) * two / n : 1e300);
      dual = std::max(dual, sum);
    }
    const double bound = bounds_of(graph, {cpus(m, cpu), gpus(n, gpu)}, launch).assignment_us;
    INFO("round " << round);
    CHECK(bound >= dual * (1 - 1e-9));
    CHECK(bound == doctest::Approx(dual).epsilon(1e-3));
  }
}

TEST_CASE("more kinds than two: never above the sum of bandwidths, never below two kinds of the whole") {
  const TaskGraph graph = independent({5, 5, 5, 5});
  const Bounds bounds = bounds_of(graph, {cpus(1, 1), gpus(1, 4), gpus(1, 5)});
  CHECK(bounds.bandwidth_us == doctest::Approx(2));
  CHECK(bounds.assignment_us <= 2.0001);
  CHECK(bounds.assignment_us > 1.5);
  CHECK(bounds_of(graph, {cpus(1, 1), gpus(1, 0)}).assignment_us == doctest::Approx(20));  // no bandwidth: no workers
}

TEST_CASE("what is submitted is recorded, the parts of batches once") {
  Session session(options(1));
  static const Codelet codelet("test.recorded", [](Call&) {});
  const Handle x(64), y(64);
  const auto submit_three = [&] {
    submit(codelet, 0, {out(x)}, {1, 10});
    submit(codelet, 0, {in(x), out(y)}, {1, 20});
    submit(codelet, 0, {inout(x)}, {1, 30});
  };
  const auto check = [](const TaskGraph& graph) {
    REQUIRE(graph.tasks().size() == 3);
    CHECK(graph.tasks()[1].after == std::vector{0});
    CHECK(graph.tasks()[2].after == std::vector{0, 1});
    CHECK(graph.total().bytes == 60);
    CHECK(graph.tasks()[0].on_cpu);
    CHECK_FALSE(graph.tasks()[0].on_cuda);
  };
  {
    const GraphRecording recording;
    submit_three();
    check(recording.graph());
  }
  {
    const GraphRecording recording;
    Batch batch;
    submit_three();
    batch.submit();
    check(recording.graph());
  }
  submit_three();  // nobody records
  session.wait_all();
}

TEST_CASE("CPUs join GPUs where they were asked to") {
  CHECK_FALSE(cpus_join_gpus({}));
  CHECK_FALSE(cpus_join_gpus({.devices = "cuda"}));
  CHECK_FALSE(cpus_join_gpus({.devices = "all", .cpu_share = 0.0}));
  CHECK(cpus_join_gpus({.devices = "all"}));
  CHECK(cpus_join_gpus({.devices = "cuda", .cpu_share = 0.1}));
  CHECK(cpus_join_gpus({.measure_cpu_share = true}));
}

TEST_CASE("data that come after others have gone wait for none of their tasks") {
  Session session(options(1));
  static const Codelet codelet("test.temporary", [](Call&) {});
  const GraphRecording recording;
  for (int i = 0; i < 100; ++i) {
    std::optional<Handle> temporary(std::in_place, 64);  // often at an address that one before had
    submit(codelet, 0, {out(*temporary)}, {1, 10});
    session.wait_all();
    std::optional<GraphRecording::Pause> pause;
    if (i % 2 == 1) pause.emplace();
    temporary.reset();
  }
  REQUIRE(recording.graph().tasks().size() == 100);
  for (const TaskGraph::Task& task : recording.graph().tasks()) CHECK(task.after.empty());
}

}  // namespace bound_test
