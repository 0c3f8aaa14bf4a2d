// Start and stop of the runtime: which workers exist, what is refused, and the counts of what ran.
#include "runtime/graph/session.hpp"

#include "runtime/policy/policy.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <vector>

namespace session_test {

using namespace quarkstar;
using namespace quarkstar::runtime;
using runtime_testing::options;
using runtime_testing::Script;

namespace {

std::string message_of(const SessionOptions& wish, ErrorKind kind) {
  try {
    const Session session(wish);
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "no error";
}

/// Workers that ran at least one of many tasks sent to each.
std::set<int> workers_that_run(int workers) {
  std::vector<std::atomic<int>> ran(static_cast<std::size_t>(workers));
  {
    Script script;
    for (int task = 0; task < 3 * workers; ++task)
      script.submit([&ran](Call& call) { ran[static_cast<std::size_t>(call.worker())] += 1; }, {}, {.owner = task % workers});
  }
  std::set<int> found;
  for (int w = 0; w < workers; ++w)
    if (ran[static_cast<std::size_t>(w)] > 0) found.insert(w);
  return found;
}

void check_workers(const Session& session) {
  std::set<std::string> names;
  for (const Worker& worker : session.workers()) {
    CHECK(worker.kind == Worker::Kind::cpu);
    CHECK(worker.team.threads() >= 1);
    CHECK(worker.bandwidth_gbs > 0);
    CHECK_FALSE(worker.name.empty());
    names.insert(worker.name);
  }
  CHECK(names.size() == session.workers().size());
  CHECK(workers_that_run(static_cast<int>(session.workers().size())).size() == session.workers().size());
}

}  // namespace

TEST_CASE("one worker for each memory domain commands all its cores") {
  const Session session({.mode = WorkerMode::per_domain, .cuda_workers = 0});
  const auto& domains = session.topology().domains();
  REQUIRE(session.workers().size() == domains.size());
  for (std::size_t w = 0; w < domains.size(); ++w) {
    CHECK(session.workers()[w].team.cores() == domains[w].cores);
    CHECK(session.workers()[w].device == domains[w].numa_node);
  }
  check_workers(session);
}

TEST_CASE("one worker for each core has one thread") {
  const Session session({.mode = WorkerMode::per_core, .cuda_workers = 0});
  REQUIRE(static_cast<int>(session.workers().size()) == session.topology().cores());
  std::set<int> cores;
  for (const Worker& worker : session.workers()) {
    CHECK(worker.team.threads() == 1);
    cores.insert(worker.team.cores().begin(), worker.team.cores().end());
  }
  CHECK(cores.size() == session.workers().size());
  check_workers(session);
}

TEST_CASE("workers and threads as asked for, more than there are cores too") {
  struct Wish {
    int workers, threads;
  };
  for (const Wish wish : {Wish{1, 1}, Wish{2, 1}, Wish{1, 2}, Wish{3, 2}, Wish{2, 0}, Wish{0, 3}}) {
    INFO(wish.workers << " workers of " << wish.threads << " threads");
    const Session session(options(wish.workers, wish.threads));
    const int cores = session.topology().cores(), domains = static_cast<int>(session.topology().domains().size());
    const int workers = wish.workers > 0 ? wish.workers : domains;
    REQUIRE(static_cast<int>(session.workers().size()) == workers);
    for (const Worker& worker : session.workers())
      CHECK(worker.team.threads() == (wish.threads > 0 ? wish.threads : std::max(1, cores / workers)));
    check_workers(session);
  }
}

TEST_CASE("an unknown policy is refused with the names of those that are known") {
  SessionOptions wish = options(1);
  wish.policy = "lucky";
  const std::string message = message_of(wish, ErrorKind::input);
  for (const std::string& name : policy_names()) CHECK(message.find(name) != std::string::npos);
  CHECK(message.find("policy: 'lucky' is unknown; use one of static, ") == 0);
  CHECK_THROWS_AS(Session::current(), Error);
  const Session session(options(1));
  CHECK(&Session::current() == &session);
}

TEST_CASE("counts of workers and threads that make no sense are refused") {
  for (const int wrong : {-1, 100000}) {
    INFO(wrong);
    CHECK(message_of(options(wrong, 1), ErrorKind::input).find("workers") != std::string::npos);
  }
  CHECK(message_of(options(1, -1), ErrorKind::input).find("threads") != std::string::npos);
  CHECK_NOTHROW(Session(options(1)));
}

TEST_CASE("one session at a time, any number in turn") {
  CHECK_THROWS_AS(Session::current(), Error);
  for (int round = 0; round < 3; ++round) {
    const Session session(options(1 + round % 2));
    CHECK_THROWS_AS(Session(options(1)), Error);
    CHECK(&Session::current() == &session);
    CHECK(session.options().policy == "static");
    int ran = 0;
    {
      Script script;
      for (int task = 0; task < 10; ++task) script.submit([&](Call&) { ++ran; });
    }
    CHECK(ran == 10);
  }
  CHECK_THROWS_AS(Session::current(), Error);
}

TEST_CASE("a session counts what was submitted and what it cost, not what was skipped") {
  Session session(options(2));
  Script script;
  for (int task = 0; task < 30; ++task) script.submit([](Call&) {}, {}, {.owner = task % 2}, {10.0 * task, 1.0});
  for (int task = 0; task < 5; ++task) script.submit([](Call& call) { call.skip(); }, {}, {}, {1e9, 1e9});
  session.wait_all();
  const Totals totals = session.events().totals();
  CHECK(totals.submitted == 35);
  CHECK(totals.executed == 30);
  CHECK(totals.flops == 10.0 * 29 * 30 / 2);
  CHECK(totals.bytes == 30);
  CHECK(totals.busy_us >= 0);
  for (int worker = 0; worker < 2; ++worker) CHECK(session.events().of_worker(worker).empty());  // keep_events is off
  session.events().reset();
  CHECK(session.events().totals().submitted == 0);
  CHECK(session.events().totals().executed == 0);
  CHECK(session.events().totals().flops == 0);
}

TEST_CASE("tasks may have any number of handles") {
  const Session session(options(1));
  for (const int count : {1, 15, 16, 17, 32, 33, 100}) {
    INFO(count << " handles");
    std::vector<Handle> handles;
    AccessList readers, writers;
    for (int i = 0; i < count; ++i) handles.emplace_back(8);
    for (const Handle& handle : handles) readers.push_back(in(handle)), writers.push_back(out(handle));
    const Handle result(8);
    readers.push_back(out(result));
    Script script;
    script.submit(
        [count](Call& call) {
          for (int i = 0; i < count; ++i) *call.buffer<std::int64_t>(i) = i + 1;
        },
        writers);
    script.submit(
        [count](Call& call) {
          std::int64_t sum = 0;
          for (int i = 0; i < count; ++i) sum += *call.buffer<std::int64_t>(i);
          *call.buffer<std::int64_t>(count) = sum;
        },
        readers);
    CHECK(*HostView<std::int64_t>(result) == count * (count + 1) / 2);
  }
}

TEST_CASE("the runtime names its version") { CHECK(runtime_version().rfind("StarPU 1.4.", 0) == 0); }

}  // namespace session_test
