// Programs that take turns: one at a time, always in the same order, whatever they wait for.
#include "runtime/graph/turns.hpp"

#include "runtime/graph/scalar.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace turns_test {

using namespace quarkstar;
using runtime::Turns;
using runtime_testing::Script;

TEST_CASE("programs take turns in order, and one that ends makes room for the next") {
  std::string log;
  Turns::run(4, 2, [&](int program) {
    CHECK(Turns::taken());
    CHECK(Turns::in_flight() == 2);
    for (int step = 0; step <= program; ++step) {
      log += static_cast<char>('a' + program);
      Turns::pass();
    }
  });
  // a and b in flight; a ends after one step and c takes its lane, and so on.
  CHECK(log == "abcbcdcddd");
  CHECK_FALSE(Turns::taken());
  CHECK(Turns::in_flight() == 1);
}

TEST_CASE("one at a time runs in this thread, one after another") {
  std::string log;
  const auto here = std::this_thread::get_id();
  Turns::run(3, 1, [&](int program) {
    CHECK(std::this_thread::get_id() == here);
    CHECK(Turns::lane() == 0);
    log += static_cast<char>('a' + program);
    Turns::pass();
  });
  CHECK(log == "abc");
  Turns::run(0, 3, [](int) { FAIL("there is no program"); });
}

TEST_CASE("never two at once, and lanes are numbered") {
  std::atomic<int> inside{0};
  std::vector<int> lanes(20, -1);
  Turns::run(20, 3, [&](int program) {
    lanes[static_cast<std::size_t>(program)] = Turns::lane();
    for (int step = 0; step < 5; ++step) {
      CHECK(inside.fetch_add(1) == 0);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      inside.fetch_sub(1);
      Turns::pass();
    }
  });
  for (int program = 0; program < 20; ++program) CHECK(lanes[static_cast<std::size_t>(program)] == program % 3);
}

TEST_CASE("a program that throws ends the run; the others in flight see it") {
  std::string log;
  const auto run = [&] {
    Turns::run(10, 3, [&](int program) {
      for (int step = 0; step < 4 && !Turns::failed(); ++step) {
        log += static_cast<char>('a' + program);
        if (program == 1 && step == 1) throw std::runtime_error("second");
        Turns::pass();
      }
    });
  };
  CHECK_THROWS_WITH(run(), "second");
  CHECK(log == "abcab");
}

TEST_CASE("programs that wait for their tasks get their own results, and leave the graph work meanwhile") {
  runtime::Session session(runtime_testing::options(2));
  std::vector<double> results(6);
  {
    Script script;
    std::vector<runtime::Handle> handles;
    for (int program = 0; program < 6; ++program) handles.emplace_back(sizeof(double));
    Turns::run(6, 3, [&](int program) {
      const runtime::Handle& handle = handles[static_cast<std::size_t>(program)];
      script.submit([program](runtime::Call& call) { *call.buffer<double>(0) = program; }, {runtime::out(handle)}, {.owner = program % 2});
      for (int step = 0; step < 3; ++step) {
        script.submit([](runtime::Call& call) { *call.buffer<double>(0) += 10; }, {runtime::inout(handle)}, {.owner = program % 2});
        Turns::pass();
        results[static_cast<std::size_t>(program)] = *runtime::HostView<double>(handle);
      }
    });
  }
  for (int program = 0; program < 6; ++program) CHECK(results[static_cast<std::size_t>(program)] == program + 30);
}

TEST_CASE("as they come: a program that waits long does not hold up another") {
  std::atomic<bool> may_end{false};
  std::atomic<int> inside{0};
  int steps = 0;
  Turns::run(
      2, 2,
      [&](int program) {
        CHECK(inside.fetch_add(1) == 0);
        if (program == 0) {
          inside.fetch_sub(1);
          Turns::wait([&] {
            while (!may_end) std::this_thread::sleep_for(std::chrono::microseconds(50));
          });
          CHECK(inside.fetch_add(1) == 0);
          CHECK(steps == 5);
        } else {
          for (steps = 0; steps < 5; ++steps) {
            inside.fetch_sub(1);
            Turns::wait([] {});
            CHECK(inside.fetch_add(1) == 0);
          }
          may_end = true;  // a ring would have waited for it for ever
        }
        inside.fetch_sub(1);
      },
      Turns::Order::as_they_come);
}

TEST_CASE("as they come: one at a time, and what one throws comes out") {
  std::atomic<int> inside{0};
  const auto program = [&](int number) {
    for (int step = 0; step < 20 && !Turns::failed(); ++step) {
      CHECK(inside.fetch_add(1) == 0);
      inside.fetch_sub(1);
      if (number == 2 && step == 7) throw std::runtime_error("seven");
      Turns::pass();
    }
  };
  CHECK_THROWS_WITH_AS(Turns::run(4, 3, program, Turns::Order::as_they_come), "seven", std::runtime_error);
}

}  // namespace turns_test
