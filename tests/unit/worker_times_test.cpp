// Where the time of workers goes: sums that must hold whatever the machine does.
#include "runtime/observe/worker_times.hpp"

#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

namespace worker_times_test {

using namespace quarkstar::runtime;
using quarkstar::runtime_testing::options;
using quarkstar::runtime_testing::Script;

namespace {

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace

TEST_CASE("a worker's time is all accounted for") {
  constexpr int workers = 2, tasks = 20;
  Session session(options(workers));
  {
    Script before;
    before.submit([](Call&) { sleep_ms(5); });
  }
  WorkerProfile profile(session);
  {
    Script script;
    for (int task = 0; task < tasks; ++task) script.submit([](Call&) { sleep_ms(2); }, {}, {.owner = task % 4 == 0 ? 1 : 0}, {1e3, 1e6});
  }
  const std::vector<WorkerTimes> times = profile.times();
  REQUIRE(times.size() == workers);
  CHECK(times[0].tasks == 15);
  CHECK(times[1].tasks == 5);
  CHECK(times[0].bytes == doctest::Approx(15e6));
  for (const WorkerTimes& t : times) {
    CHECK(t.busy >= 2e-3 * static_cast<double>(t.tasks));
    CHECK(t.us_per_task() >= 2000);
    CHECK(t.transfer >= 0);
    CHECK(t.overhead >= 0);
    CHECK(t.idle >= 0);
    CHECK(t.busy + t.transfer + t.overhead + t.idle == doctest::Approx(t.total));
  }
  CHECK(profile.links().empty());  // one memory

  profile.restart();
  const std::vector<WorkerTimes> none = profile.times();
  CHECK(none[0].tasks == 0);
  CHECK(none[0].busy == 0);
}

TEST_CASE("recent speed of a worker, and counts that a reset leaves") {
  Session session(options(1));
  CHECK(session.events().measured_gbs(0) == 0);
  for (const double us : {10.0, 10.0, 1.0}) session.events().record(0, {"test", 0, 100, 100 + us, {1, 50e3}, false});
  CHECK(session.events().measured_gbs(0) == doctest::Approx(5));  // the last was too short to count
  for (int task = 0; task < 200; ++task) session.events().record(0, {"test", 0, 0, 20, {1, 50e3}, false});
  CHECK(session.events().measured_gbs(0) == doctest::Approx(2.5).epsilon(0.01));
  session.events().record(0, {"test", 0, 0, 1000, {}, true});
  CHECK(session.events().measured_gbs(0) == doctest::Approx(2.5).epsilon(0.01));
  session.events().reset();
  CHECK(session.events().lifetime(0).executed == 203);
  CHECK(session.events().measured_gbs(0) > 0);
}

}  // namespace worker_times_test
