// Handles: memory that tasks and the host see in turn, their life, and how large they may be.
#include "runtime/graph/handle.hpp"

#include "runtime/graph/wait_for_tasks.hpp"
#include "runtime/system/error.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace handle_test {

using namespace quarkstar;
using namespace quarkstar::runtime;
using runtime_testing::Gate;
using runtime_testing::options;
using runtime_testing::Script;

TEST_CASE("a wait for the tasks on a handle ends when they have, and leaves what is in it") {
  const Session session(options(2));
  const Handle a(64);
  std::atomic<int> done = 0;
  Script script;
  script.submit([](Call& call) { call.buffer<std::int32_t>(0)[0] = 7; }, {out(a)});
  Gate gate;
  for (int reader = 0; reader < 3; ++reader)
    script.submit(
        [&](Call&) {
          gate.wait();
          ++done;
        },
        {in(a)});
  std::thread opener([&gate] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gate.open();
  });
  wait_for_tasks(a);
  CHECK(done == 3);
  opener.join();
  CHECK(*HostView<std::int32_t>(a) == 7);
}

TEST_CASE("a handle carries data between the host and tasks, in program order") {
  const Session session(options(2));
  for (const std::size_t bytes : {8ul, 64ul, 100ul, 4096ul, 3ul << 20}) {
    INFO(bytes << " bytes");
    const Handle a(bytes), b(bytes);
    CHECK(a.bytes() == bytes);
    const auto count = bytes / sizeof(std::int32_t);
    {
      const HostView<std::int32_t> view(a, HostAccess::overwrite);
      CHECK(reinterpret_cast<std::uintptr_t>(view.get()) % 64 == 0);
      for (std::size_t i = 0; i < count; ++i) view[i] = static_cast<std::int32_t>(i);
    }
    Script script;
    script.submit(
        [count](Call& call) {
          for (std::size_t i = 0; i < count; ++i) call.buffer<std::int32_t>(1)[i] = 3 * call.buffer<std::int32_t>(0)[i];
        },
        {in(a), out(b)});
    script.submit(
        [count](Call& call) {
          for (std::size_t i = 0; i < count; ++i) call.buffer<std::int32_t>(0)[i] += 1;
        },
        {inout(b)});
    {
      const HostView<std::int32_t> view(b, HostAccess::modify);
      for (std::size_t i = 0; i < count; ++i) view[i] *= 2;
    }
    script.submit(
        [count](Call& call) {
          for (std::size_t i = 0; i < count; ++i) call.buffer<std::int32_t>(0)[i] -= 2;
        },
        {inout(b)});
    const HostView<std::int32_t> view(b);
    bool good = true;
    for (std::size_t i = 0; i < count; ++i) good &= view[i] == 6 * static_cast<std::int32_t>(i);
    CHECK(good);
    CHECK(*view == 0);
  }
}

TEST_CASE("task memory is aligned to 64 bytes, large fields to a huge page") {
  const Session session(options(1));
  for (const std::size_t bytes : {4ul, 65ul, 4096ul, (2ul << 20) - 64, 2ul << 20, 5ul << 20}) {
    const Handle handle(bytes);
    std::uintptr_t address = 0;
    {
      Script script;
      script.submit([&](Call& call) { address = reinterpret_cast<std::uintptr_t>(call.buffer<char>(0)); }, {out(handle)});
    }
    INFO(bytes << " bytes");
    CHECK(address != 0);
    CHECK(address % (bytes >= 2ul << 20 ? 2ul << 20 : 64) == 0);
  }
}

TEST_CASE("moving a handle moves its memory") {
  const Session session(options(1));
  Handle a(8);
  *HostView<std::int64_t>(a, HostAccess::overwrite) = 41;
  _starpu_data_state* const state = a.state();
  Handle b(std::move(a));
  CHECK_FALSE(a);
  CHECK(a.bytes() == 0);
  CHECK(b);
  CHECK(b.state() == state);
  CHECK(*HostView<std::int64_t>(b) == 41);
  Handle c(16);
  c = std::move(b);
  CHECK_FALSE(b);
  CHECK(c.bytes() == 8);
  CHECK(*HostView<std::int64_t>(c) == 41);
  Handle& same = c;
  c = std::move(same);
  CHECK(*HostView<std::int64_t>(c) == 41);
  std::vector<Handle> many;
  for (int i = 0; i < 20; ++i) {
    many.emplace_back(8);
    *HostView<std::int64_t>(many.back(), HostAccess::overwrite) = i;
  }
  for (int i = 0; i < 20; ++i) CHECK(*HostView<std::int64_t>(many[static_cast<std::size_t>(i)]) == i);
  CHECK_FALSE(Handle());
}

TEST_CASE("destroying a handle waits for nothing, and its tasks still run") {
  const Session session(options(1));
  Gate gate;
  std::atomic<int> seen{0};
  std::atomic<bool> opened{true};
  Script script;
  const Handle other(8);
  {
    Handle handle(1024);
    script.submit(
        [&](Call& call) {
          opened = gate.wait();
          call.buffer<int>(0)[200] = 7;
        },
        {out(handle)});
    script.submit([&](Call& call) { seen = call.buffer<int>(0)[200]; }, {in(handle)});
    handle = Handle(8);  // and so does overwriting it
  }
  CHECK(seen == 0);
  gate.open();
  Session::current().wait_all();
  CHECK(opened);
  CHECK(seen == 7);
}

TEST_CASE("a frozen handle is read by many tasks and waits for its readers when it goes") {
  const Session session(options(2));
  std::atomic<int> right{0};
  Script script;
  {
    Handle handle(sizeof(int) * 1000);
    script.submit(
        [](Call& call) {
          for (int i = 0; i < 1000; ++i) call.buffer<int>(0)[i] = i * i;
        },
        {out(handle)});
    handle.freeze();
    const HostView<int> view(handle);
    CHECK(view[999] == 999 * 999);
    for (int task = 0; task < 50; ++task)
      script.submit([&right, task](Call& call) { right += call.buffer<int>(0)[task * 20] == task * 20 * task * 20; }, {in(handle)});
  }
  CHECK(right == 50);
}

TEST_CASE("a handle of more than 4 GiB is whole") {
  const Session session(options(1));
  constexpr std::size_t bytes = (std::size_t{9} << 29) + 64;  // 4.5 GiB and a line: past 2^32 in bytes
  if (session.topology().domains().front().memory_bytes < 2 * bytes) {
    std::printf("SKIPPED a handle of more than 4 GiB is whole: less than 9 GiB of memory\n");
    return;
  }
  const Handle handle(bytes);
  CHECK(handle.bytes() == bytes);
  std::uint64_t first = 0, last = 0;
  {
    Script script;
    constexpr std::size_t words = bytes / 8;  // only the pages touched here take memory
    script.submit(
        [](Call& call) {
          call.buffer<std::uint64_t>(0)[0] = 11;
          call.buffer<std::uint64_t>(0)[words - 1] = 13;
        },
        {out(handle)});
    script.submit(
        [&](Call& call) {
          first = call.buffer<std::uint64_t>(0)[0];
          last = call.buffer<std::uint64_t>(0)[words - 1];
        },
        {in(handle)});
  }
  CHECK(first == 11);
  CHECK(last == 13);
}

TEST_CASE("a handle that the runtime cannot count is refused") {
  const Session session(options(1));
  CHECK_THROWS_AS(Handle(std::size_t{1} << 40), Error);
  CHECK_NOTHROW(Handle(std::size_t{1} << 37));  // registered only: no memory yet
}

TEST_CASE("a handle of no bytes is harmless") {
  const Session session(options(1));
  const Handle handle(0);
  bool ran = false;
  {
    Script script;
    script.submit([](Call&) {}, {out(handle)});
    script.submit([&](Call&) { ran = true; }, {in(handle)});
  }
  CHECK(ran);
  { const HostView<char> view(handle, HostAccess::overwrite); }
}

TEST_CASE("handles need a session, and may outlive it") {
  CHECK_THROWS_AS(Handle(8), Error);
  std::unique_ptr<Handle> left;
  {
    const Session session(options(1));
    left = std::make_unique<Handle>(8);
    *HostView<int>(*left, HostAccess::overwrite) = 1;
  }
  left.reset();
  const Session session(options(1));
  const Handle handle(8);
  *HostView<int>(handle, HostAccess::overwrite) = 2;
  CHECK(*HostView<int>(handle) == 2);
}

TEST_CASE("an owner's copy of a handle is one of its own, stays with the handle and goes with it") {
  const Session session(options(2));
  Handle original(sizeof(std::int64_t));
  *HostView<std::int64_t>(original, HostAccess::overwrite) = 5;
  const Handle* first = &original.copy_of(1);
  CHECK(first == &original.copy_of(1));
  CHECK(first != &original.copy_of(2));
  CHECK(first->bytes() == original.bytes());
  {
    Script script;
    script.submit([](Call& call) { *call.buffer<std::int64_t>(0) = *call.buffer<std::int64_t>(1) + 1; }, {out(*first), in(original)});
    script.submit([](Call& call) { *call.buffer<std::int64_t>(0) = 7; }, {inout(original)});
  }
  CHECK(*HostView<std::int64_t>(*first) == 6);
  CHECK(*HostView<std::int64_t>(original) == 7);
  Handle moved = std::move(original);
  CHECK(&moved.copy_of(1) == first);
  moved = Handle(sizeof(std::int64_t));
  *HostView<std::int64_t>(moved.copy_of(1), HostAccess::overwrite) = 1;
  CHECK(*HostView<std::int64_t>(moved.copy_of(1)) == 1);
}

}  // namespace handle_test
