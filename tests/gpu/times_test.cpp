// What traces and totals say of GPU tasks: intervals of kernels, not of launches.
#include <algorithm>
#include <chrono>

#include "apps/bench_dslash.hpp"
#include "runtime/batch.hpp"
#include "tests/battery/support.hpp"
#include "tests/gpu/support.hpp"

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 69314;

/// Events of the GPU worker in order of their begin.
std::vector<runtime::Event> events_of(runtime::Session& session) {
  std::vector<runtime::Event> events = session.events().of_worker(0);
  std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.begin_us < b.begin_us; });
  return events;
}

}  // namespace

TEST_CASE("GPU events are intervals that do not overlap and fill the time of a busy GPU") {
  QUARKSTAR_NEEDS_GPU("gpu times");
  const Coord lattice{32, 16, 16, 32};
  const HostGauge gauge = reference::random_gauge(lattice, seed);
  const HostSpinor psi = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  for (const bool apart : {false, true}) {
    INFO("kernels timed apart: " << apart);
    runtime::Session session({.cuda_workers = 1, .keep_events = true, .time_kernels = apart});
    battery::HoppingHarness harness({lattice, {1, 1, 1, 1}}, gauge, {0, 0, 0, 1});
    harness.apply(psi);
    const SpinorField even(harness.lattice(), 0), odd(harness.lattice(), 1);
    transfer::load_spinor(odd, psi);
    session.wait_all();
    constexpr int pairs = 16, rounds = 6;
    double wall = 0;
    for (int round = 0; round < rounds; ++round) {
      session.events().reset();
      const auto start = std::chrono::steady_clock::now();
      runtime::Batch batch;
      for (int i = 0; i < pairs; ++i) {
        harness.hopping().apply(even, odd, {.scale = 0.1});
        harness.hopping().apply(odd, even, {.scale = 0.1});
      }
      batch.submit();
      session.wait_all();
      wall = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    }
    const std::vector<runtime::Event> events = events_of(session);
    REQUIRE(events.size() == 2 * pairs);
    double busy = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      CHECK(events[i].end_us > events[i].begin_us);
      if (i > 0) CHECK(events[i].begin_us >= events[i - 1].end_us - 0.01);
      busy += events[i].end_us - events[i].begin_us;
    }
    CHECK(busy == doctest::Approx(session.events().totals().busy_us));
    CHECK(busy <= 1.02 * wall);
    CHECK(busy >= 0.5 * wall);  // launches alone would be a tenth of it
    // All kernels do the same work.
    const auto longest = std::max_element(events.begin(), events.end(), [](const auto& a, const auto& b) {
      return a.end_us - a.begin_us < b.end_us - b.begin_us;
    });
    CHECK(longest->end_us - longest->begin_us < 4 * busy / static_cast<double>(events.size()));
  }
}

TEST_CASE("tasks of a cut lattice have their own intervals") {
  QUARKSTAR_NEEDS_GPU("gpu times of a cut lattice");
  const Coord lattice{16, 16, 16, 16};
  const HostGauge gauge = reference::random_gauge(lattice, seed);
  const HostSpinor psi = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  runtime::Session session({.cuda_workers = 1, .keep_events = true});
  battery::HoppingHarness harness({lattice, {1, 1, 1, 2}}, gauge, {0, 0, 0, 1});
  session.wait_all();
  session.events().reset();
  harness.apply(psi);
  const std::vector<runtime::Event> events = events_of(session);
  CHECK(events.size() >= 2 * 3);
  for (std::size_t i = 1; i < events.size(); ++i) CHECK(events[i].begin_us >= events[i - 1].end_us - 0.01);
}
