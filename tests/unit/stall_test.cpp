// When a watchdog asks the other ranks, and when it calls a job hung: by a clock of its own.
#include "runtime/system/stall.hpp"

#include "apps/run/start_patience.hpp"

#include <doctest/doctest.h>

namespace stall_test {

using namespace std::chrono_literals;
using quarkstar::runtime::Patience;
using quarkstar::runtime::Stall;

namespace {

const Stall::Clock::time_point start{};

}  // namespace

TEST_CASE("a rank that makes progress, or waits for nothing, does not hang") {
  const Patience patience{10s, 0s};
  Stall stall(start);
  for (int second = 0; second < 100; ++second) stall.look(start + std::chrono::seconds(second), second / 5, true);
  CHECK_FALSE(stall.should_ask(start + 99s, patience));
  for (int second = 100; second < 200; ++second) stall.look(start + std::chrono::seconds(second), 20, false);
  CHECK_FALSE(stall.should_ask(start + 199s, patience));
  CHECK(stall.idle(start + 199s) == 99s);
  stall.look(start + 210s, 20, true);
  CHECK(stall.should_ask(start + 210s, patience));
  CHECK_FALSE(stall.should_ask(start + 210s, Patience{0s, 0s}));
}

TEST_CASE("progress of another rank counts") {
  const Patience patience{10s, 0s};
  Stall waiting(start);
  waiting.look(start, 0, true);
  waiting.look(start + 11s, 0, true);
  CHECK(waiting.should_ask(start + 11s, patience));
  waiting.heard(start + 11s, 3s);
  CHECK_FALSE(waiting.hangs(start + 11s, patience));
  CHECK_FALSE(waiting.should_ask(start + 17s, patience));
  CHECK(waiting.should_ask(start + 19s, patience));
  waiting.heard(start + 19s, 11s);
  CHECK(waiting.hangs(start + 19s, patience));
}

TEST_CASE("ranks that stop one after the other agree soon after the last one") {
  const Patience patience{20s, 0s};
  Stall first(start), last(start);
  first.look(start, 1, true);
  int hung_at = 0;
  for (int half = 0; half < 200 && hung_at == 0; ++half) {
    const Stall::Clock::time_point now = start + half * 500ms;
    first.look(now, 1, true);
    last.look(now, half < 30 ? half : 30, true);  // until 15 s
    if (!first.should_ask(now, patience)) continue;
    first.heard(now, last.idle(now));
    if (first.hangs(now, patience)) hung_at = half;
  }
  CHECK(hung_at > 2 * 35);
  CHECK(hung_at <= 2 * 36);
}

TEST_CASE("silent ranks are asked for sooner than the job is given up") {
  const Patience patience{600s, 5s};
  Stall stall(start);
  stall.look(start, 0, true);
  stall.look(start + 6s, 0, true);
  CHECK(stall.should_ask(start + 6s, patience));
  stall.heard(start + 6s, 6s);
  CHECK_FALSE(stall.hangs(start + 6s, patience));
  CHECK_FALSE(stall.should_ask(start + 10s, patience));
  CHECK(stall.should_ask(start + 12s, patience));
  stall.heard_nothing(start + 12s);
  CHECK_FALSE(stall.should_ask(start + 13s, patience));
}

TEST_CASE("the command line tells the patience of the start") {
  const auto of = [](const std::vector<std::string>& arguments) { return quarkstar::app::start_patience(arguments); };
  CHECK(of({}).idle == 600s);
  CHECK(of({}).silent == 0s);
  CHECK(of({"solve", "--watchdog", "20"}).idle == 20s);
  CHECK(of({"solve", "--watchdog=20", "--watchdog=0"}).idle == 0s);
  CHECK(of({"solve", "--watchdog", "soon"}).idle == 600s);
  CHECK(of({"solve", "--watchdog"}).idle == 600s);
  CHECK(of({"machine", "--limit", "5"}).silent == 0s);
  CHECK(of({"machine", "--self-test"}).silent == 30s);
  CHECK(of({"machine", "--limit", "5", "--self-test"}).silent == 5s);
  const auto remedy = [&](const std::vector<std::string>& arguments) { return std::string(of(arguments).remedy); };
  CHECK(remedy({"solve", "run.toml"}).ends_with("raise --watchdog"));
  CHECK(remedy({"machine", "--self-test"}) == "or raise --limit");
  CHECK(remedy({"gauge", "convert", "a", "b"}) == "and start it again");
}

}  // namespace stall_test
