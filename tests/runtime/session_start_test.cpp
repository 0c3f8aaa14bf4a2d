// A session whose start fails half-way leaves nothing behind: every allocation of the start fails once, and the next session is as good as
// the first. In an executable of its own, because operator new is this file's.
#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>
#include <starpu.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

using namespace quarkstar;
using namespace quarkstar::runtime;
using runtime_testing::options;
using runtime_testing::Script;

namespace {

/// Allocations of this thread until one fails; negative: none does.
thread_local long until_failure = -1;

void* allocate(std::size_t bytes) {
  if (until_failure >= 0 && until_failure-- == 0) throw std::bad_alloc();
  void* memory = std::malloc(std::max<std::size_t>(bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

std::vector<std::string> environment() {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  std::sort(variables.begin(), variables.end());
  return variables;
}

void check_session() {
  const Session session(options(2));
  CHECK(session.workers().size() == 2);
  int ran = 0;
  {
    Script script;
    for (int task = 0; task < 4; ++task) script.submit([&ran](Call&) { ++ran; }, {}, {.owner = 1});
  }
  CHECK(ran == 4);
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

TEST_CASE("wherever the start of a session fails, it is taken back") {
  check_session();  // what is made once in a process
  const std::vector<std::string> before = environment();
  int failures = 0;
  for (long allocations = 0;; ++allocations) {
    std::string message;
    long left = -1;
    const SessionOptions wish = options(2);
    try {
      until_failure = allocations;
      const Session session(wish);
      left = std::exchange(until_failure, -1);
    } catch (const std::exception& error) {
      until_failure = -1;
      message = error.what();
    }
    INFO("failed at allocation " << allocations << ": " << message);
    REQUIRE(starpu_is_initialized() == 0);
    REQUIRE_FALSE(Session::is_running());
    REQUIRE(environment() == before);
    if (left >= 0) break;                 // the start has not so many
    failures += message.empty() ? 0 : 1;  // some can be done without
    if (allocations % 16 == 0) check_session();
  }
  CHECK(failures > 20);
  check_session();
}

TEST_CASE("a program that has started StarPU itself is told so, and both go on") {
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = 1;
  conf.ncuda = 0;
  REQUIRE(starpu_init(&conf) == 0);
  std::string message;
  try {
    const Session session(options(1));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::environment);
    message = error.what();
  }
  CHECK(message == "Session: the program has started StarPU itself; shut it down before a session starts");
  CHECK_FALSE(Session::is_running());
  CHECK(starpu_is_initialized() == 1);
  starpu_shutdown();
  check_session();
}
