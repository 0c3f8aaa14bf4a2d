// Throttled workers: which delays are asked for, and that tasks then last that long.
#include "runtime/system/throttle.hpp"

#include "apps/run/parse.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

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
  for (int i = 0; i < tasks; ++i) list.push_back(throttler.delay_us(throttle.worker, 10));
  return list;
}

}  // namespace

TEST_CASE("delays follow the factor, and hiccups their seed") {
  CHECK(delays({.worker = 1, .factor = 3}, 2) == std::vector<double>{20, 20});
  Throttler one({{.worker = 1, .factor = 3}}, 0, 2);
  CHECK(one.delay_us(0, 10) == 0);
  CHECK(Throttler().delay_us(0, 10) == 0);
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

TEST_CASE("throttles that mean nothing are refused") {
  const auto refused = [](const Throttle& throttle, int first_cpu = 0) {
    CHECK_THROWS_WITH(Throttler({throttle}, first_cpu, 2), doctest::Contains("throttle: "));
  };
  refused({.worker = 2});
  refused({.worker = -1});
  refused({.worker = 0}, 1);
  refused({.worker = 0, .factor = 0.5});
  refused({.worker = 0, .factor = 1, .chance = 1.5});
  refused({.worker = 0, .factor = 1, .chance = 0.5, .hiccup_us = -1});
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
  for (const char* bad : {"", "1", "1:2:3", "x:2", "1:y", "1:2:0.1:5:6:7"}) CHECK_THROWS_AS(app::parse_throttles(bad), app::BadValue);
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

}  // namespace throttle_test
