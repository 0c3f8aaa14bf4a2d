// Journals: what they do where the file system knows no locks, or cannot flush.
#include "apps/run/json_lines.hpp"

#include "runtime/system/error.hpp"
#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace json_lines_test {

using namespace quarkstar;
using namespace quarkstar::app;
using quarkstar::testing::read_file;
using quarkstar::testing::TemporaryFolder;

namespace {

int lock_error = 0, flush_error = 0;  ///< what the file system says, where it is not 0

int answer(int error, long result) {
  if (error != 0) errno = error;
  return error != 0 ? -1 : static_cast<int>(result);
}

}  // namespace

// In place of those of the C library.
extern "C" int flock(int file, int operation) noexcept { return answer(lock_error, syscall(SYS_flock, file, operation)); }
extern "C" int fdatasync(int file) { return answer(flush_error, syscall(SYS_fdatasync, file)); }

TEST_CASE("a journal on a file system without locks or flushes") {
  const TemporaryFolder folder;
  const std::string path = folder.file("journal.jsonl");
  const auto append = [&] {
    JsonLines lines(path, "campaign", [](const JsonLines::Json&) {});
    lines.append({{"a", 1}});
  };
  append();
  for (const int error : {ENOSYS, EOPNOTSUPP, ENOLCK}) {
    lock_error = error;
    append();
  }
  CHECK(read_file(path) == "{\"a\":1}\n{\"a\":1}\n{\"a\":1}\n{\"a\":1}\n");
  lock_error = EWOULDBLOCK;
  CHECK_THROWS_WITH_AS(append(), doctest::Contains("another campaign is writing this file"), Error);
  lock_error = EIO;
  CHECK_THROWS_WITH_AS(append(), doctest::Contains("journal.jsonl: locking failed: "), Error);
  lock_error = 0;
  flush_error = EIO;
  CHECK_THROWS_WITH_AS(append(), doctest::Contains("journal.jsonl: flushing to disk failed: "), Error);
  flush_error = EINVAL;
  append();
  flush_error = 0;
}

}  // namespace json_lines_test
