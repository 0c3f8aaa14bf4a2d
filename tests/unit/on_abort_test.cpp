// What is called before an abort: in processes of their own, by how these end.
#include "runtime/system/on_abort.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace on_abort_test {

using quarkstar::runtime::OnAbort;

namespace {

/// How a process ends that does this.
int status_of(void (*what)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);  // doctest has a handler of its own
    what();
    ::_exit(9);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

bool aborted(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT; }

void begin_another_program() { ::execl("/bin/sh", "sh", "-c", "exit 7", nullptr); }

}  // namespace

TEST_CASE("before an abort another program may begin in the process") {
  const int status = status_of([] {
    const OnAbort on_abort(begin_another_program);
    std::abort();
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("an abort goes on where what comes before it returns, and where that aborts") {
  CHECK(aborted(status_of([] {
    const OnAbort on_abort([] {});
    std::abort();
  })));
  CHECK(aborted(status_of([] {
    const OnAbort on_abort([] { std::abort(); });
    std::abort();
  })));
}

TEST_CASE("nothing comes before an abort that another process asks for, nor when OnAbort is gone") {
  CHECK(aborted(status_of([] {
    const OnAbort on_abort(begin_another_program);
    ::kill(::getpid(), SIGABRT);
    ::pause();
  })));
  CHECK(aborted(status_of([] {
    { const OnAbort on_abort(begin_another_program); }
    std::abort();
  })));
}

}  // namespace on_abort_test
