// Traces in Chrome's format: JSON that others can read, one row a worker, nothing that did not run.
#include "runtime/observe/chrome_trace.hpp"
#include "runtime/observe/share_interval.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/runtime_support.hpp"
#include "tests/unit/temporary_path.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace trace_test {

using namespace quarkstar;
using namespace quarkstar::runtime;
using nlohmann::json;
using runtime_testing::options;
using runtime_testing::Script;
using testing::TemporaryPath;

namespace {

SessionOptions recording(int workers) {
  SessionOptions wish = options(workers);
  wish.keep_events = true;
  return wish;
}

json trace_of(Session& session) {
  const TemporaryPath path(".trace.json");
  session.wait_all();
  write_chrome_trace(session, session.events(), path.text());
  std::ifstream file(path.text());
  return json::parse(file);
}

}  // namespace

TEST_CASE("a trace has a row for each worker and an event for each task that worked") {
  constexpr int workers = 3, tasks = 60;
  Session session(recording(workers));
  const Handle chain(8);
  *HostView<std::int64_t>(chain, HostAccess::overwrite) = 0;
  {
    Script script;
    for (int task = 0; task < tasks; ++task)
      script.submit(
          [task](Call& call) {
            if (task % 5 == 4) return call.skip();
            volatile double work = 0;
            for (int i = 0; i < 2000; ++i) work = work + i;
          },
          task % 2 == 0 ? AccessList{inout(chain)} : AccessList{}, {.owner = task % workers, .block = task}, {100.0 + task, 8.0 * task});
  }
  const json trace = trace_of(session);
  CHECK(trace.at("displayTimeUnit") == "ms");

  std::map<int, std::string> rows;
  struct Interval {
    double begin, end;
  };
  std::map<int, std::vector<Interval>> intervals;
  std::map<int, int> worker_of_block;
  double flops = 0, first = 1e300;
  for (const json& event : trace.at("traceEvents")) {
    const int row = event.at("tid");
    CHECK(event.at("pid") == 0);
    if (event.at("ph") == "M") {
      CHECK(event.at("name") == "thread_name");
      CHECK(rows.count(row) == 0);
      rows[row] = event.at("args").at("name");
      continue;
    }
    CHECK(event.at("ph") == "X");
    CHECK(event.at("name") == "test.script");
    const double begin = event.at("ts"), duration = event.at("dur");
    CHECK(begin >= 0);
    CHECK(duration >= 0);
    first = std::min(first, begin);
    intervals[row].push_back({begin, begin + duration});
    const int block = event.at("args").at("block");
    CHECK(worker_of_block.count(block) == 0);
    worker_of_block[block] = row;
    CHECK(event.at("args").at("flops") == 100.0 + block);
    CHECK(event.at("args").at("bytes") == 8.0 * block);
    flops += event.at("args").at("flops").get<double>();
  }
  REQUIRE(rows.size() == workers);
  for (int w = 0; w < workers; ++w) CHECK(rows.at(w) == session.worker(w).name);
  REQUIRE(worker_of_block.size() == tasks - tasks / 5);
  for (const auto& [block, row] : worker_of_block) {
    CHECK(block % 5 != 4);
    CHECK(row == block % workers);
  }
  CHECK(flops == session.events().totals().flops);
  CHECK(first < 1e6);  // times count from the first event, not from the machine's start
  for (auto& [row, list] : intervals) {
    std::sort(list.begin(), list.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    for (std::size_t i = 1; i < list.size(); ++i) CHECK(list[i].begin >= list[i - 1].end - 0.002);  // printed to 0.001 us
  }
}

TEST_CASE("a trace of nothing is still a trace") {
  Session session(recording(2));
  const json trace = trace_of(session);
  CHECK(trace.at("traceEvents").size() == 2);
  {
    Script script;
    for (int task = 0; task < 3; ++task) script.submit([](Call& call) { call.skip(); });
  }
  CHECK(trace_of(session).at("traceEvents").size() == 2);
  {
    Script script;
    script.submit([](Call&) {});
  }
  CHECK(trace_of(session).at("traceEvents").size() == 3);
  session.events().reset();
  CHECK(trace_of(session).at("traceEvents").size() == 2);
}

TEST_CASE("what ran beside has a row of its own, and a batch that was timed as a whole is one event") {
  Session session(recording(2));
  const Event main{"wilson.interior", 0, 10, 50, {100, 200}, false}, beside{"wilson.pack", 0, 12, 20, {0, 30}, false, true};
  const Event batch{"batch", -1, 60, 90, {300, 400}, false, false, 12}, copy{"scalar", -1, 50, 55, {}, false, false, 0};
  const std::vector<Event> of_one{main, beside, copy};
  session.events().record(1, of_one, 45);
  session.events().record(0, batch);
  const Totals totals = session.events().totals();
  CHECK(totals.executed == 14);
  CHECK(totals.busy_us == 75);
  CHECK(totals.bytes == 630);
  std::map<std::string, int> rows, places, row_of;
  const json trace = trace_of(session);
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("name") == "thread_name") rows[event.at("args").at("name")] = event.at("tid");
    else if (event.at("name") == "thread_sort_index")
      places[std::to_string(event.at("tid").get<int>())] = event.at("args").at("sort_index");
    else row_of[event.at("name")] = event.at("tid");
    if (event.at("name") == "batch") CHECK(event.at("args").at("kernels") == 12);
  }
  const std::string name = session.worker(1).name;
  REQUIRE(rows.size() == 3);
  CHECK(rows.at(name) == 1);
  CHECK(row_of.at("batch") == 0);
  CHECK(row_of.at("wilson.interior") == 1);
  CHECK(row_of.at("scalar") == 1);
  CHECK(row_of.at("wilson.pack") == rows.at(name + " exchange"));
  CHECK(places.at("1") + 1 == places.at(std::to_string(rows.at(name + " exchange"))));
}

TEST_CASE("a trace that cannot be written says so") {
  const Session session(recording(1));
  const std::string path = (std::filesystem::temp_directory_path() / "no such directory" / "trace.json").string();
  CHECK_THROWS_AS(write_chrome_trace(session, Session::current().events(), path), Error);
}

TEST_CASE("parts of a task whose time is known as a whole share it by their bytes") {
  std::vector<Event> events(3, Event{"part", 0, 0, 0, {}, false});
  events[0].cost.bytes = 100;
  events[1].cost.bytes = 300;
  share_interval(events, 10, 50);
  CHECK(events[0].begin_us == 10);
  CHECK(events[0].end_us == 20);
  CHECK(events[1].begin_us == 20);
  CHECK(events[1].end_us == 50);
  CHECK(events[2].begin_us == 50);
  CHECK(events[2].end_us == 50);
  for (Event& event : events) event.cost.bytes = 0;
  share_interval(events, 0, 30);
  CHECK(events[1].begin_us == doctest::Approx(10));
  CHECK(events[2].end_us == 30);
  share_interval(std::span<Event>(), 0, 1);

  events[1].cost = {7, 50};
  events[2].codelets = 3;
  const Event joined = join_interval(events, 5, 9);
  CHECK(joined.begin_us == 5);
  CHECK(joined.end_us == 9);
  CHECK(joined.codelets == 5);
  CHECK(joined.cost.flops == 7);
  CHECK(joined.cost.bytes == 50);
}

TEST_CASE("workers' lanes take events from any thread") {
  constexpr int threads = 4, each = 5000;
  Events events(2, true);
  std::vector<std::thread> writers;
  for (int t = 0; t < threads; ++t)
    writers.emplace_back([&events] {
      for (int i = 0; i < each; ++i) events.record(i % 2, Event{"x", i, 0, 1, {1, 2}, false});
    });
  for (std::thread& writer : writers) writer.join();
  CHECK(events.totals().executed == threads * each);
  CHECK(events.totals().bytes == 2.0 * threads * each);
  CHECK(events.of_worker(1).size() == threads * each / 2);
}

}  // namespace trace_test
