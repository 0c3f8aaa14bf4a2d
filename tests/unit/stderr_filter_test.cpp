// Lines that are dropped from stderr, and those that are not.
#include "runtime/system/stderr_filter.hpp"

#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <cstdio>

namespace stderr_filter_test {

using namespace quarkstar;

TEST_CASE("only lines with the noise are dropped") {
  const testing::TemporaryFolder folder;
  const int real = dup(STDERR_FILENO);
  const int file = open(folder.file("stderr").c_str(), O_CREAT | O_WRONLY, 0600);
  REQUIRE(file >= 0);
  std::fflush(stderr);
  dup2(file, STDERR_FILENO);
  std::fputs("before: noise\n", stderr);
  {
    const runtime::StderrFilter filter("noise");
    std::fputs("first\nsome noise here\nse", stderr);
    std::fputs("cond\nthe last line has no end", stderr);
  }
  std::fputs(", after: noise\n", stderr);
  std::fflush(stderr);
  dup2(real, STDERR_FILENO);
  close(real);
  close(file);
  CHECK(testing::read_file(folder.file("stderr")) == "before: noise\nfirst\nsecond\nthe last line has no end, after: noise\n");
}

}  // namespace stderr_filter_test
