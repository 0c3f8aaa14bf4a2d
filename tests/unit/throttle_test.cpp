// Throttled workers: which delays are asked for, and that tasks then last that long.
#include "runtime/system/throttle.hpp"

#include "apps/run/parse.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace throttle_test {

using namespace quarkstar;
using runtime::Throttle;
using runtime::Throttler;
using runtime_testing::Script;

namespace {

std::vector<double> delays(const Throttle& throttle, int tasks) {
  Throttler throttler({throttle}, 0, 2);
  std::vector<double> list;
  for (int i = 0; i < tasks; ++i) list.push_back(throttler.delay_us(throttle.worker, 0, 10));
  return list;
}

}  // namespace

TEST_CASE("delays follow the factor, and hiccups their seed") {
  CHECK(delays({.worker = 1, .factor = 3}, 2) == std::vector<double>{20, 20});
  Throttler one({{.worker = 1, .factor = 3}}, 0, 2);
  CHECK(one.delay_us(0, 0, 10) == 0);
  CHECK(Throttler().delay_us(0, 0, 10) == 0);
  const Throttle noisy{.worker = 0, .factor = 1, .chance = 0.25, .hiccup_us = 700, .seed = 5};
  constexpr int tasks = 4000;
  const std::vector<double> first = delays(noisy, tasks);
  CHECK(delays(noisy, tasks) == first);
  Throttle other = noisy;
  other.seed = 6;
  CHECK(delays(other, tasks) != first);
  int hiccups = 0;
  for (const double delay : first) {
    CHECK((delay == 0 || delay == 700));
    hiccups += delay > 0 ? 1 : 0;
  }
  CHECK(hiccups > 0.22 * tasks);
  CHECK(hiccups < 0.28 * tasks);
}

TEST_CASE("a task of a worker that is to fail throws once the time has come") {
  Throttler throttler({{.worker = 1, .factor = std::numeric_limits<double>::infinity(), .from_s = 1e5}}, 0, 2);
  CHECK(throttler.delay_us(1, 1, 10) == 0);
  CHECK(std::isinf(throttler.delay_us(1, 2e5, 10)));
  CHECK_FALSE(throttler.fails(1));  // not yet
  CHECK(Throttler({{.worker = 0, .factor = std::numeric_limits<double>::infinity()}}, 0, 2).fails(0));
  CHECK_FALSE(Throttler({{.worker = 0, .factor = 3}}, 0, 2).fails(0));
  CHECK(throttler.delay_us(0, 2e5, 10) == 0);
}

TEST_CASE("a throttle with a start leaves earlier tasks alone, and has the same hiccups after it as without") {
  Throttler late({{.worker = 1, .factor = 3, .from_s = 2.5}}, 0, 2);
  for (const double earlier : {0.0, 1.0, 2.499}) CHECK(late.delay_us(1, earlier, 10) == 0);
  for (const double later : {2.5, 2.6, 1e5}) CHECK(late.delay_us(1, later, 10) == 20);
  CHECK(late.delay_us(0, 1e5, 10) == 0);
  Throttle noisy{.worker = 0, .factor = 2, .chance = 0.25, .hiccup_us = 700, .seed = 5};
  const std::vector<double> always = delays(noisy, 200);
  noisy.from_s = 1;
  Throttler throttler({noisy}, 0, 2);
  for (std::size_t task = 0; task < always.size(); ++task)
    CHECK(throttler.delay_us(0, task < 100 ? 0.5 : 1.5, 10) == (task < 100 ? 0 : always[task]));
}

TEST_CASE("throttles that mean nothing are refused") {
  const auto refused = [](const Throttle& throttle, int first_cpu = 0) {
    CHECK_THROWS_WITH(Throttler({throttle}, first_cpu, 2), doctest::Contains("throttle: "));
  };
  refused({.worker = 2});
  refused({.worker = -1});
  refused({.worker = 0}, 1);
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(Throttler({{.worker = 2, .factor = infinity}}, 1, 2), doctest::Contains("worker 2 is none of this session"));
  CHECK_THROWS_WITH(Throttler({{.worker = 0, .factor = 2}}, 1, 2), doctest::Contains("worker 0 is a GPU"));
  CHECK_NOTHROW(Throttler({{.worker = 0, .factor = infinity}}, 1, 2));  // a GPU that fails
  refused({.worker = 0, .factor = 0.5});
  refused({.worker = 0, .factor = 1, .chance = 1.5});
  refused({.worker = 0, .factor = 1, .chance = 0.5, .hiccup_us = -1});
  refused({.worker = 0, .factor = 2, .from_s = -1});
  refused({.worker = 0, .factor = 2, .from_s = 2e6});
}

TEST_CASE("throttles as text") {
  const std::vector<Throttle> list = app::parse_throttles("1:2.5,0:1:0.01:5:42");
  REQUIRE(list.size() == 2);
  CHECK(list[0].worker == 1);
  CHECK(list[0].factor == 2.5);
  CHECK(list[0].chance == 0);
  CHECK(list[1].worker == 0);
  CHECK(list[1].chance == 0.01);
  CHECK(list[1].hiccup_us == 5000);
  CHECK(list[1].seed == 42);
  CHECK(app::text_of(list) == "1:2.5,0:1:0.01:5:42");
  const std::vector<Throttle> late = app::parse_throttles("1:3@2.5,0:1:0.01:5@10");
  REQUIRE(late.size() == 2);
  CHECK(late[0].factor == 3);
  CHECK(late[0].from_s == 2.5);
  CHECK(late[1].hiccup_us == 5000);
  CHECK(late[1].from_s == 10);
  CHECK(app::text_of(late) == "1:3@2.5,0:1:0.01:5:1@10");
  for (const char* bad : {"", "1", "1:2:3", "x:2", "1:y", "1:2:0.1:5:6:7", "1:2@", "1:2@x", "1:2@1@2", "1@1:2"})
    CHECK_THROWS_AS(app::parse_throttles(bad), app::BadValue);
}

TEST_CASE("a throttled worker's tasks last as long as was asked for, and others are left alone") {
  runtime::SessionOptions options = runtime_testing::options(2);
  options.keep_events = true;
  constexpr double hiccup_us = 3000;
  options.throttles = {{.worker = 1, .factor = 1, .chance = 1, .hiccup_us = hiccup_us}};
  runtime::Session session(options);
  {
    Script script;
    for (int worker = 0; worker < 2; ++worker)
      for (int i = 0; i < 3; ++i) script.submit([](runtime::Call&) {}, {}, {.owner = worker});
  }
  session.wait_all();
  REQUIRE(session.events().of_worker(1).size() == 3);
  for (const runtime::Event& event : session.events().of_worker(1)) CHECK(event.end_us - event.begin_us >= hiccup_us);
  CHECK(session.events().of_worker(0).size() == 3);
}

TEST_CASE("a session's throttles begin when they were asked to") {
  const auto took_us = [](const Throttle& throttle) {
    runtime::SessionOptions options = runtime_testing::options(1);
    options.keep_events = true;
    options.throttles = {throttle};
    runtime::Session session(options);
    {
      Script script;
      script.submit([](runtime::Call&) {}, {}, {.owner = 0});
    }
    session.wait_all();
    const std::vector<runtime::Event> events = session.events().of_worker(0);
    REQUIRE(events.size() == 1);
    return events.front().end_us - events.front().begin_us;
  };
  constexpr double long_us = 1e7, short_us = 1e4;  // the former never comes
  CHECK(took_us({.factor = 1, .chance = 1, .hiccup_us = long_us, .from_s = 1e6}) < long_us);
  CHECK(took_us({.factor = 1, .chance = 1, .hiccup_us = short_us, .from_s = 1e-6}) >= short_us);
}

}  // namespace throttle_test
