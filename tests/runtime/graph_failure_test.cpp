// Exceptions in codelets end the graph with an error that names the codelet; what may not be done inside tasks and batches is refused.
#include "runtime/graph/graph_failure.hpp"

#include "runtime/graph/batch.hpp"
#include "runtime/graph/on_workers.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/graph/typed_codelet.hpp"
#include "runtime/graph/wait_for_tasks.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/system/environment.hpp"
#include "tests/unit/error_testing.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace quarkstar;
using namespace quarkstar::runtime;
using error_testing::message_of;
using runtime_testing::options;
using runtime_testing::Script;

namespace {

enum class Thrown : int { nothing, error, standard, memory, number };

const TypedCodelet count("test.count", CodeletKind::other, [](Call&, InOut<int> number, Thrown thrown) {
  if (thrown == Thrown::error) throw Error(ErrorKind::numerical, "matrix", "a pivot is 0", "give another matrix");
  if (thrown == Thrown::standard) throw std::runtime_error("bad luck");
  if (thrown == Thrown::memory) throw std::bad_alloc();
  if (thrown == Thrown::number) throw 17;
  ++*number;
});

Handle zero() {
  Handle number(sizeof(int));
  *HostView<int>(number, HostAccess::overwrite) = 0;
  return number;
}

}  // namespace

TEST_CASE("an exception in a codelet is thrown where its tasks are waited for, with the name of the codelet") {
  struct Case {
    Thrown thrown;
    ErrorKind kind;
    const char* what;
  };
  for (const Case& c :
       {Case{Thrown::error, ErrorKind::numerical, "matrix: a pivot is 0; give another matrix"},
        Case{Thrown::standard, ErrorKind::internal, "bad luck; this is a defect: please report it with the command line"},
        Case{Thrown::memory, ErrorKind::environment, "out of memory; use smaller blocks"},
        Case{Thrown::number, ErrorKind::internal, "an exception that is no std::exception; this is a defect: please report it"}}) {
    Session session(options(2));
    const Handle number = zero();
    submit(count.on(number, Thrown::nothing));
    session.wait_all();
    submit(count.on(number, c.thrown), {}, {.owner = 1, .block = 3});
    const std::string expected = std::string("codelet test.count (block 3, worker 1): ") + c.what;
    CHECK(message_of([&] { session.wait_all(); }, c.kind) == expected);
    CHECK(message_of([&] { session.wait_all(); }, c.kind) == expected);  // and ever after
    CHECK(message_of([&] { HostView<int> view(number); }, c.kind) == expected);
    CHECK(message_of([&] { wait_for_tasks(number); }, c.kind) == expected);
    CHECK(message_of([&] { submit(count.on(number, Thrown::nothing)); }, c.kind) == expected);
  }
  const Session session(options(1));  // the next one knows nothing of it
  const Handle number = zero();
  submit(count.on(number, Thrown::nothing));
  CHECK(*HostView<int>(number) == 1);
}

TEST_CASE("behind an exception no task runs, under any policy, and the session ends") {
  for (const std::string& policy : policy_names()) {
    INFO(policy);
    Session session(options(2, 1, policy));
    std::atomic<int> ran = 0;
    const Handle data = zero();
    static std::atomic<int>* counter;
    counter = &ran;
    static const TypedCodelet later("test.later", CodeletKind::other, [](Call&, InOut<int>) { ++*counter; });
    std::string message = "no error";
    try {
      for (int task = 0; task < 20; ++task) {
        if (task == 5) submit(count.on(data, Thrown::standard));
        else submit(later.on(data));
      }
      session.wait_all();
    } catch (const Error& error) {
      message = error.what();
    }
    CHECK(message.find("codelet test.count (worker ") == 0);
    CHECK(message.find("): bad luck") != std::string::npos);
    CHECK(ran == 5);
    session.events().reset();
  }
}

TEST_CASE("a part of a batch is named, not the batch") {
  Session session(options(1));
  const Handle number = zero();
  Batch batch;
  for (int i = 0; i < 4; ++i) submit(count.on(number, i == 2 ? Thrown::error : Thrown::nothing), {}, {.block = i});
  batch.submit();
  CHECK(message_of([&] { session.wait_all(); }, ErrorKind::numerical).find("codelet test.count (block 2, worker 0): matrix") == 0);
  CHECK(session.events().totals().executed == 2);
}

TEST_CASE("a batch in a batch is refused, one after the other is not") {
  const Session session(options(1));
  const Handle number = zero();
  {
    Batch outer;
    submit(count.on(number, Thrown::nothing));
    CHECK(message_of([] { Batch inner; }, ErrorKind::internal) ==
          "Batch: another batch of this thread is collecting tasks; submit that one first");
    submit(count.on(number, Thrown::nothing));  // still collected
    CHECK(outer.parts().size() == 2);
    outer.submit();
    Batch next;
    submit(count.on(number, Thrown::nothing));
    next.submit();
  }
  CHECK(*HostView<int>(number) == 3);
}

TEST_CASE("a task that looks at data as the host does is refused") {
  Session session(options(1));
  const Handle number = zero(), other = zero();
  std::string message = "no error";
  {
    Script script;
    script.submit(
        [&](Call&) {
          try {
            HostView<int> view(other);
          } catch (const Error& error) {
            message = error.what();
          }
        },
        {inout(number)});
  }
  CHECK(message == "HostView: a task looks at data as the host does, and may wait for itself; make them one of the task's accesses");
}

TEST_CASE("what a body on a worker throws is thrown to the caller, when all have ended") {
  const Session session(options(2));
  std::atomic<int> ran = 0;
  CHECK_THROWS_WITH_AS(on_workers({0, 1},
                                  [&](std::size_t i, const Worker&) {
                                    ++ran;
                                    if (i == 1) throw std::runtime_error("no measurement");
                                  }),
                       "no measurement", std::runtime_error);
  CHECK(ran == 2);
  on_workers({0}, [&](std::size_t, const Worker&) { ++ran; });
  CHECK(ran == 3);
}

TEST_CASE("programs in flight for which there is no thread are refused, and nobody waits for them") {
  pthread_attr_t before, impossible;
  REQUIRE(pthread_getattr_default_np(&before) == 0);
  REQUIRE(pthread_attr_init(&impossible) == 0);
  REQUIRE(pthread_attr_setstacksize(&impossible, std::size_t{1} << 47) == 0);  // more than a process can address
  REQUIRE(pthread_setattr_default_np(&impossible) == 0);
  std::atomic<int> ran = 0;
  const std::string message = message_of([&] { Turns::run(4, 2, [&](int) { ++ran; }); }, ErrorKind::environment);
  REQUIRE(pthread_setattr_default_np(&before) == 0);
  pthread_attr_destroy(&before);
  pthread_attr_destroy(&impossible);
  CHECK(message.find("in-flight: no thread can be started for 1 of 2 in flight (") == 0);
  CHECK(ran == 0);
  Turns::run(4, 2, [&](int) { ++ran; });
  CHECK(ran == 4);
  CHECK(Turns::in_flight() == 1);
}

TEST_CASE("the environment can be read while it is changed, and is as before afterwards") {
  ::setenv("QUARKSTAR_TEST_STAYS", "here", 1);
  ::unsetenv("QUARKSTAR_TEST_COMES");
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::thread reader([&] {
    while (!done) {
      const char* value = std::getenv("QUARKSTAR_TEST_STAYS");
      if (value == nullptr || std::string(value) != "here") ++wrong;
      if (const char* other = std::getenv("QUARKSTAR_TEST_COMES"); other != nullptr && std::string(other) != "and goes") ++wrong;
    }
  });
  for (int round = 0; round < 2000; ++round) {
    EnvironmentChanges changes;
    changes.set("QUARKSTAR_TEST_COMES", "and goes");
    changes.set_if_absent("QUARKSTAR_TEST_STAYS", "elsewhere");
    if (std::string(std::getenv("QUARKSTAR_TEST_COMES")) != "and goes") ++wrong;
    changes.unset("QUARKSTAR_TEST_COMES");
    if (std::getenv("QUARKSTAR_TEST_COMES") != nullptr) ++wrong;
  }
  done = true;
  reader.join();
  CHECK(wrong == 0);
  CHECK(std::getenv("QUARKSTAR_TEST_COMES") == nullptr);
  CHECK(std::string(std::getenv("QUARKSTAR_TEST_STAYS")) == "here");
  ::unsetenv("QUARKSTAR_TEST_STAYS");
}
