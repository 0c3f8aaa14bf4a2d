// Output files are complete or absent.
#include "runtime/system/atomic_file.hpp"
#include "tests/unit/format_testing.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

namespace format_atomic_file_test {

namespace {
using namespace quarkstar;
using namespace quarkstar::testing;
}  // namespace

TEST_CASE("an atomic file appears with commit, not before") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("out");
  {
    AtomicFile file(path);
    file.append("hello ");
    CHECK(file.size() == 6);
    file.append("world");
    file.write_at(0, bytes_of("J"));
    file.write_at(20, bytes_of("end"));
    CHECK(!std::filesystem::exists(path));
    file.commit();
    expect_error(ErrorKind::internal, [&] { file.commit(); });
    expect_error(ErrorKind::internal, [&] { file.append("x"); });
  }
  std::string expected = "Jello world";
  expected.resize(20);
  CHECK(load_bytes(path) == bytes_of(expected + "end"));
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 1);
}

TEST_CASE("without commit the old file stays and no temporary file remains") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("out");
  save_bytes(path, bytes_of("old"));
  {
    AtomicFile file(path);
    AtomicFile second(path);  // two writers do not disturb each other
    file.append("new");
    second.append("newer");
  }
  CHECK(load_bytes(path) == bytes_of("old"));
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 1);
  AtomicFile file(path);
  file.append("new");
  file.commit();
  CHECK(load_bytes(path) == bytes_of("new"));
}

TEST_CASE("temporary files of killed writers are removed where they are meant") {
  const TemporaryDirectory directory;
  AtomicFile killed(directory.file("a.checkpoint")), other(directory.file("a.json"));
  for (const char* name :
       {"a.checkpoint", ".a.checkpoint.tmp", ".a.checkpoint.x1-0.tmp", ".checkpoint.tmp", ".tmp", "..tmp", "b.checkpoint.12-0.tmp"})
    save_bytes(directory.file(name), bytes_of("kept"));
  save_bytes(directory.file(".b.checkpoint.4711-12.tmp"), bytes_of("half"));
  std::filesystem::create_directories(directory.file(".c.checkpoint.4711-0.tmp/in use"));
  remove_leftovers(directory.path().string(), [](std::string_view name) { return name.ends_with(".checkpoint"); });
  CHECK(!std::filesystem::exists(killed.temporary()));
  CHECK(!std::filesystem::exists(directory.file(".b.checkpoint.4711-12.tmp")));
  CHECK(std::filesystem::exists(other.temporary()));
  CHECK(std::filesystem::exists(directory.file(".c.checkpoint.4711-0.tmp")));
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 9);
  remove_leftovers(directory.file("missing"), [](std::string_view) { return true; });
}

TEST_CASE("a link to the output file is followed") {
  const TemporaryDirectory directory;
  save_bytes(directory.file("target"), bytes_of("old"));
  std::filesystem::create_symlink("target", directory.file("link"));
  AtomicFile file(directory.file("link"));
  file.append("new");
  file.commit();
  CHECK(std::filesystem::is_symlink(directory.file("link")));
  CHECK(load_bytes(directory.file("target")) == bytes_of("new"));
}

TEST_CASE("impossible output names fail at once with one line") {
  const TemporaryDirectory directory;
  expect_error(ErrorKind::input, [&] { AtomicFile file(""); });
  expect_error(ErrorKind::input, [&] { AtomicFile file(directory.path().string()); }, {directory.path().string()});
  expect_error(ErrorKind::input, [&] { AtomicFile file(directory.file("missing/out")); }, {"missing/out", "existing directory"});
  save_bytes(directory.file("plain"), bytes_of("x"));
  expect_error(ErrorKind::input, [&] { AtomicFile file(directory.file("plain/out")); });
  expect_error(ErrorKind::input, [&] { AtomicFile file("/dev/null"); }, {"not a regular file"});
  expect_error(ErrorKind::input, [&] { AtomicFile file(directory.file(std::string(300, 'n'))); });
  REQUIRE(::chmod(directory.path().c_str(), 0555) == 0);
  {
    const OrdinaryUser user;
    if (user.active()) {
      expect_error(ErrorKind::environment, [&] { AtomicFile file(directory.file("out")); }, {"may create files"});
    } else {
      std::cout << "SKIPPED forbidden directory: the superuser's rights cannot be given up\n";
    }
  }
  REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);
}

TEST_CASE("a refused write is reported and leaves nothing behind") {
  const TemporaryDirectory directory;
  rlimit old_limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);  // so that the write fails instead of ending the process
  rlimit small = old_limit;
  small.rlim_cur = 1000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  expect_error(ErrorKind::environment,
               [&] {
                 AtomicFile file(directory.file("out"));
                 file.append(std::string(2000, 'x'));
                 file.commit();
               },
               {"out", "writing failed"});
  // Where the file system reserves space, leave_room() fails, otherwise append() behind it.
  expect_error(ErrorKind::environment,
               [&] {
                 AtomicFile file(directory.file("out"));
                 file.leave_room(2000);
                 file.append("x");
               },
               {"out", "failed"});
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  std::signal(SIGXFSZ, old_handler);
  CHECK(std::filesystem::is_empty(directory.path()));
}

}  // namespace format_atomic_file_test
