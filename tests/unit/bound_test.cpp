// Lower bounds on graphs that can be solved by hand, and graphs recorded from submissions.
#include "runtime/observe/bound.hpp"

#include "runtime/graph/batch.hpp"
#include "runtime/observe/events.hpp"
#include "runtime/observe/worker_times.hpp"
#include "runtime/system/clock.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <deque>
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

TEST_CASE("tasks at their owners: what must cross between memories, and each owner's own tasks") {
  // Two GPUs of 1 GB/s, a CPU worker whose memory is reached at 2 GB/s; 4 us of bytes cross between the GPUs at 1 GB/s.
  Owners owners{{{true, 1}, {true, 2}, {false, 0}}, {{0, 2, 2}, {2, 0, 1}, {2, 1, 0}}};
  const std::vector<WorkerKind> kinds{cpus(1, 1), gpus(2, 1)};
  const auto bound = [&](const TaskGraph& graph) { return lower_bounds(graph, kinds, 0, &owners).owners_us; };
  const auto add = [](TaskGraph& graph, int owner, double length, std::vector<Use> uses, bool on_cuda = true) {
    graph.add({0, length * us}, true, on_cuda, uses, {}, {.owner = owner});
  };
  const std::size_t big = static_cast<std::size_t>(12 * us);
  TaskGraph here;
  for (int i = 0; i < 3; ++i) add(here, 0, 1, {{&a, Mode::in, false, big}});
  CHECK(bound(here) == doctest::Approx(3));
  CHECK(bounds_of(here, kinds).best() == doctest::Approx(1));
  CHECK(lower_bounds(here, kinds, 0, &owners).best() == doctest::Approx(3));

  TaskGraph chain;  // 12 us of bytes into the second GPU's memory, by the fastest way, the host's; all its ways together have 3 GB/s
  add(chain, 0, 1, {{&a, Mode::out, false, big}});
  add(chain, 1, 1, {{&a, Mode::in, false, big}});
  CHECK(bound(chain) == doctest::Approx(6));
  add(chain, 1, 1, {{&a, Mode::in, false, big}});  // there already
  CHECK(bound(chain) == doctest::Approx(6));
  add(chain, 0, 1, {{&a, Mode::inout, false, big}});  // and back, anew
  add(chain, 1, 1, {{&a, Mode::in, false, big}});     // the copy is out of date: 6 us from the fourth task's begin on, at 6
  CHECK(bound(chain) == doctest::Approx(12));

  TaskGraph same;
  add(same, 0, 1, {{&a, Mode::out, false, big}});
  add(same, 0, 1, {{&a, Mode::in, false, big}});
  CHECK(bound(same) == doctest::Approx(2));

  TaskGraph elsewhere;  // a CPU's task in a GPU's block: nobody's load, and its results are anywhere
  add(elsewhere, 0, 1, {{&a, Mode::out, false, big}}, false);
  add(elsewhere, 1, 1, {{&a, Mode::in, false, big}});
  CHECK(bound(elsewhere) == doctest::Approx(2));

  TaskGraph apart;  // bytes of their own: how many cross is not known
  for (const int owner : {0, 1, 0}) add(apart, owner, 1, {{&a, Mode::inout, true, big}});
  add(apart, 1, 1, {{&a, Mode::in, false, big}});
  CHECK(bound(apart) == doctest::Approx(2));

  const std::vector<int> many(9);
  TaskGraph into;  // nine pieces of 12 us from two memories: over all ways in together, 3 GB/s
  for (const int& piece : many) add(into, &piece - many.data() < 5 ? 0 : 2, 0, {{&piece, Mode::out, false, big}});
  for (const int& piece : many) add(into, 1, 0, {{&piece, Mode::in, false, big}});
  CHECK(bound(into) == doctest::Approx(36));
}

TEST_CASE("no schedule of tasks at their owners is faster than the bound that counts moved data") {
  constexpr unsigned seed = 20261130;
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  const auto below = [&random](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
  int moves_decide = 0;
  for (int round = 0; round < 200; ++round) {
    Owners owners{{{true, 1}, {true, 2}, {false, 0}, {false, 0}}, std::vector<std::vector<double>>(3, std::vector<double>(3))};
    for (int to = 0; to < 3; ++to)
      for (int from = 0; from < 3; ++from)
        if (to != from) owners.gbs[static_cast<std::size_t>(to)][static_cast<std::size_t>(from)] = 1 + below(10);
    const std::vector<WorkerKind> kinds{cpus(2, 1 + below(4)), gpus(2, 1 + below(20))};
    struct Piece {
      int memory = -1;
      double begun = 0, written = 0, read = 0;  // by the last writer, and by the last of its readers
      std::vector<double> there = std::vector<double>(3, -1.0);
      std::size_t bytes = 0;
    };
    std::vector<Piece> pieces(6);
    for (Piece& piece : pieces) piece.bytes = static_cast<std::size_t>(us) * static_cast<std::size_t>(below(40));
    // Each worker runs its tasks in the order of submission, each link copies one piece after the other; `streamed`: kernels write into the
    // other memory while they run.
    const bool streamed = round % 2 == 1;
    TaskGraph graph;
    std::vector<double> free(4), links(9);
    double makespan = 0;
    for (int task = 0; task < 40; ++task) {
      const int owner = below(4), memory = owners.workers[static_cast<std::size_t>(owner)].memory;
      const double bytes = us * below(20), takes = bytes / us / kinds[owner < 2 ? 1 : 0].gbs;
      double& idle_from = free[static_cast<std::size_t>(owner)];
      double begin = idle_from;
      std::vector<Use> uses;
      for (Piece& piece : pieces) {
        if (below(3) > 0) continue;
        const Mode mode = std::array{Mode::in, Mode::inout, Mode::out}[static_cast<std::size_t>(below(3))];
        uses.push_back({&piece, mode, false, piece.bytes});
        begin = std::max(begin, piece.written);
        if (mode != Mode::in) begin = std::max(begin, piece.read);
        if (mode == Mode::out || piece.memory < 0 || piece.memory == memory) continue;
        double& arrival = piece.there[static_cast<std::size_t>(memory)];
        if (arrival < 0) {
          double& link = links[static_cast<std::size_t>(3 * memory + piece.memory)];
          const double gbs = owners.gbs[static_cast<std::size_t>(memory)][static_cast<std::size_t>(piece.memory)];
          arrival = link = std::max(link, streamed ? piece.begun : piece.written) + static_cast<double>(piece.bytes) / us / gbs;
        }
        begin = std::max(begin, arrival);
      }
      graph.add({0, bytes}, true, true, uses, {}, {.owner = owner});
      idle_from = begin + takes;
      makespan = std::max(makespan, idle_from);
      for (const Use& use : uses) {
        Piece& piece = pieces[static_cast<std::size_t>(static_cast<const Piece*>(use.data) - pieces.data())];
        if (use.mode == Mode::in) piece.read = std::max(piece.read, idle_from);
        else piece = {memory, begin, idle_from, 0, std::vector<double>(3, -1.0), piece.bytes};
      }
    }
    Owners at_once = owners;
    for (std::vector<double>& ways : at_once.gbs) std::fill(ways.begin(), ways.end(), 0.0);
    const double bound = lower_bounds(graph, kinds, 0, &owners).owners_us, without = lower_bounds(graph, kinds, 0, &at_once).owners_us;
    INFO("round " << round);
    CHECK(bound <= makespan * (1 + 1e-12));
    CHECK(bound >= without);
    CHECK(without >= bounds_of(graph, kinds).critical_path_us * (1 - 1e-12));
    moves_decide += bound > 1.01 * without ? 1 : 0;
  }
  CHECK(moves_decide > 20);
}

TEST_CASE("recorded tasks at their owners take no less than their bounds") {
  Session session(options(2));
  static const Codelet codelet("test.fill", [](Call& call) { std::fill_n(call.buffer<char>(0), call.arguments<std::size_t>(), char{1}); });
  constexpr std::size_t bytes = 1 << 18;
  std::deque<Handle> handles;
  for (int i = 0; i < 4; ++i) handles.emplace_back(bytes);
  for (const Handle& handle : handles) submit(codelet, bytes, {out(handle)});
  session.wait_all();
  session.events().watch_rates(true);
  const GraphRecording recording;
  const double start = now_us();
  for (std::size_t task = 0; task < 60; ++task)
    submit(codelet, bytes, {inout(handles[task % 4]), in(handles[(task + 1) % 4])}, {0, bytes}, {.owner = static_cast<int>(task % 3) / 2});
  session.wait_all();
  const double took_us = now_us() - start;
  session.events().watch_rates(false);
  WorkerKind cpu{false, 2, 0, {}};
  for (int worker = 0; worker < 2; ++worker)
    for (const auto& [name, rate] : session.events().rates(worker)) cpu.gbs = std::max(cpu.gbs, rate.best_gbs);
  const Owners owners = owners_and_ways(session);
  REQUIRE(owners.workers.size() == 2);
  CHECK(owners.workers[0].memory == owners.workers[1].memory);
  const Bounds bounds = lower_bounds(recording.graph(), std::span(&cpu, 1), 0, &owners);
  CHECK(bounds.owners_us > 0);
  CHECK(bounds.owners_us >= bounds.critical_path_us * (1 - 1e-12));
  CHECK(bounds.owners_us >= bounds.assignment_us * (1 - 1e-12));
  CHECK(bounds.best() <= took_us);
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
