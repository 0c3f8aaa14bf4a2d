// OpenMP teams of workers: static ranges that cover everything once, on threads bound to their cores.
#include "runtime/system/team.hpp"

#include "runtime/system/topology.hpp"
#include "tests/unit/affinity_testing.hpp"
#include "tests/unit/environment_testing.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

namespace team_test {

using namespace quarkstar;
using namespace quarkstar::runtime;
using runtime_testing::allowed_cpus;
using runtime_testing::options;
using runtime_testing::Script;

namespace {

struct Range {
  std::int64_t begin = -1, end = -1;
  int calls = 0;
};

/// Ranges that the threads of a team were given, by thread.
std::vector<Range> ranges_of(const Team& team, std::int64_t items) {
  std::vector<Range> ranges(static_cast<std::size_t>(team.threads()));
  team.for_range(items, [&](std::int64_t begin, std::int64_t end, int thread) {
    Range& range = ranges[static_cast<std::size_t>(thread)];
    range = {begin, end, range.calls + 1};
  });
  return ranges;
}

/// Contiguous parts in thread order, whose sizes differ by at most one.
void check_ranges(const std::vector<Range>& ranges, std::int64_t items) {
  std::int64_t next = 0;
  for (const Range& range : ranges) {
    CHECK(range.calls == 1);
    CHECK(range.begin == next);
    CHECK(range.end >= range.begin);
    const std::int64_t even = items / static_cast<std::int64_t>(ranges.size());
    CHECK(range.end - range.begin >= even);
    CHECK(range.end - range.begin <= even + 1);
    next = range.end;
  }
  CHECK(next == items);
}

std::vector<int> cores(int threads) { return std::vector<int>(static_cast<std::size_t>(threads), 0); }

/// Where a thread that binds itself to a processing unit may run, in the kernel's numbers; empty: binding is not
/// allowed.
std::vector<int> mask_when_bound(int logical_pu) {
  std::vector<int> mask;
  std::thread([&] {
    if (bind_this_thread(logical_pu)) mask = allowed_cpus();
  }).join();
  return mask;
}

}  // namespace

TEST_CASE("a team's ranges cover everything once, in order") {
  for (const int threads : {1, 2, 3, 8})
    for (const std::int64_t items : {0, 1, 2, 7, 8, 9, 1000, 1 << 20}) {
      INFO(threads << " threads, " << items << " items");
      check_ranges(ranges_of(Team(cores(threads)), items), items);
    }
  const std::int64_t many = std::int64_t{1} << 45;
  check_ranges(ranges_of(Team(cores(3)), many), many);
}

TEST_CASE("a team that gets fewer threads than it asked for still does everything") {
  // Inside a parallel region OpenMP gives one thread, as it does beyond OMP_THREAD_LIMIT.
  std::vector<std::vector<Range>> found(2);
  Team(cores(2)).for_range(2, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) found[static_cast<std::size_t>(i)] = ranges_of(Team(cores(4)), 103);
  });
  for (const std::vector<Range>& ranges : found) check_ranges(ranges, 103);
}

TEST_CASE("workers' threads are bound to the cores of their teams and keep their parts") {
  const testing::Environment binding("STARPU_WORKERS_NOBIND", nullptr);
  for (const auto& [workers, threads] : {std::pair{1, 1}, {1, 2}, {2, 1}, {2, 2}}) {
    INFO(workers << " workers of " << threads << " threads");
    const Session session(options(workers, threads));
    for (int w = 0; w < workers; ++w) {
      const Team& team = session.worker(w).team;
      std::vector<std::vector<int>> expected;
      for (const int core : team.cores()) expected.push_back(mask_when_bound(core));
      std::vector<std::thread::id> owners(static_cast<std::size_t>(threads));
      int wrong_mask = 0, moved = 0, foreign = 0;
      Script script;
      for (int task = 0; task < 5; ++task)
        script.submit(
            [&, task, w](Call& call) {
              std::atomic<int> wrong{0}, changed{0};
              call.team().for_range(64, [&](std::int64_t, std::int64_t, int thread) {
                const auto t = static_cast<std::size_t>(thread);
                const bool complete = omp_get_num_threads() == threads;  // fewer under OMP_THREAD_LIMIT
                if (complete && !expected[t].empty()) wrong += allowed_cpus() != expected[t];
                if (task == 0) owners[t] = std::this_thread::get_id();
                changed += owners[t] != std::this_thread::get_id();
              });
              wrong_mask += wrong;
              moved += changed;
              foreign += call.worker() != w || call.team().threads() != threads;
            },
            {}, {.owner = w});
      Session::current().wait_all();
      CHECK(wrong_mask == 0);
      CHECK(moved == 0);
      CHECK(foreign == 0);
    }
  }
}

TEST_CASE("with STARPU_WORKERS_NOBIND no thread is bound") {
  const testing::Environment binding("STARPU_WORKERS_NOBIND", "1");
  const std::vector<int> all = allowed_cpus();
  const Session session(options(1, 2));
  std::atomic<int> bound{0};
  {
    Script script;
    script.submit([&](Call& call) { call.team().for_range(2, [&](std::int64_t, std::int64_t, int) { bound += allowed_cpus() != all; }); },
                  {}, {});
  }
  Session::current().wait_all();
  CHECK(bound == 0);
}

TEST_CASE("two teams at work at once stay right on few cores") {
  const Session session(options(2, 2));
  constexpr std::int64_t items = 5000;
  constexpr int tasks = 100;
  std::vector<std::vector<std::int64_t>> sums(2 * tasks, std::vector<std::int64_t>(2, 0));
  {
    Script script;
    for (int task = 0; task < 2 * tasks; ++task)
      script.submit(
          [&sums, task](Call& call) {
            call.team().for_range(items, [&](std::int64_t begin, std::int64_t end, int thread) {
              for (std::int64_t i = begin; i < end; ++i) sums[static_cast<std::size_t>(task)][static_cast<std::size_t>(thread)] += i;
            });
          },
          {}, {.owner = task % 2});
  }
  for (const auto& sum : sums) {
    CHECK(sum[0] == (items / 2) * (items / 2 - 1) / 2);
    CHECK(sum[0] + sum[1] == items * (items - 1) / 2);
  }
}

}  // namespace team_test
