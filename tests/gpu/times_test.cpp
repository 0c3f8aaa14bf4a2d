// What traces and totals say of GPU tasks: intervals of kernels, not of launches.
#include "runtime/graph/batch.hpp"
#include "tests/battery/support.hpp"
#include "tests/gpu/support.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace times_test {

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

TEST_CASE("GPU events are intervals that do not overlap and last as long as kernels") {
  QUARKSTAR_NEEDS_GPU("gpu times");
  const Coord lattice{32, 16, 16, 32};
  const HostGauge gauge = reference::random_gauge(lattice, seed);
  const HostField psi = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  for (const bool apart : {false, true}) {
    INFO("kernels timed apart: " << apart);
    runtime::Session session({.cuda_workers = 1, .keep_events = true});
    if (apart) session.events().set_detail(runtime::Events::Detail::parts);
    battery::HoppingHarness harness({lattice, {1, 1, 1, 1}}, gauge, {0, 0, 0, 1});
    harness.apply(psi);
    const Field even(harness.lattice(), 0, spinor_components), odd(harness.lattice(), 1, spinor_components);
    transfer::load(odd, psi);
    session.wait_all();
    constexpr int pairs = 16, rounds = 6;
    double wall = 0;
    for (int round = 0; round < rounds; ++round) {
      session.events().reset();
      const auto start = std::chrono::steady_clock::now();
      runtime::Batch batch;
      for (int i = 0; i < pairs; ++i) {
        harness.hopping().apply(even, odd, {.scale = same_for_all(0.1)});
        harness.hopping().apply(odd, even, {.scale = same_for_all(0.1)});
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
    // Kernels, not launches: no GPU reads 150 MB of links at 30 TB/s.
    constexpr double bytes_a_site = 8 * 18 * sizeof(double), most_bytes_a_us = 30e6;
    const double bytes = 0.5 * static_cast<double>(volume(lattice)) * bytes_a_site;
    for (const runtime::Event& event : events) CHECK(event.end_us - event.begin_us > bytes / most_bytes_a_us);
  }
}

TEST_CASE("tasks of a cut lattice have their own intervals") {
  QUARKSTAR_NEEDS_GPU("gpu times of a cut lattice");
  const Coord lattice{16, 16, 16, 16};
  const HostGauge gauge = reference::random_gauge(lattice, seed);
  const HostField psi = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  runtime::Session session({.cuda_workers = 1, .keep_events = true});
  battery::HoppingHarness harness({lattice, {1, 1, 1, 2}}, gauge, {0, 0, 0, 1});
  session.wait_all();
  session.events().reset();
  harness.apply(psi);
  const std::vector<runtime::Event> events = events_of(session);
  CHECK(events.size() >= 2 * 3);
  for (std::size_t i = 1; i < events.size(); ++i) CHECK(events[i].begin_us >= events[i - 1].end_us - 0.01);
}

namespace {

/// What the batches of one solve-like row of hopping terms left, worker by worker.
struct Recorded {
  HostField result;
  std::vector<std::vector<runtime::Event>> events;
  runtime::Totals totals;
};

/// Batches of one kind on `gpus` GPUs, a block each, with or without a trace.
Recorded run_batches(int gpus, int batches, bool traced, const HostGauge& gauge, const HostField& psi) {
  runtime::Session session({.cpu_workers = 1, .cuda_workers = gpus, .keep_events = true, .time_kernels = traced});
  battery::HoppingHarness harness({gauge.extents, {1, 1, 1, gpus}}, gauge, {0, 0, 0, 1});
  const Field even(harness.lattice(), 0, spinor_components), odd(harness.lattice(), 1, spinor_components);
  transfer::load(odd, psi);
  session.wait_all();
  session.events().reset();
  for (int round = 0; round < batches; ++round) {
    runtime::Batch batch;
    for (int i = 0; i < 8; ++i) {
      harness.hopping().apply(even, odd, {.scale = same_for_all(0.1)});
      harness.hopping().apply(odd, even, {.scale = same_for_all(0.1)});
    }
    batch.submit();
  }
  session.wait_all();
  Recorded recorded{HostField(spinor_components, gauge.extents), {}, session.events().totals()};
  for (int worker = 0; worker < gpus; ++worker) recorded.events.push_back(session.events().of_worker(worker));
  transfer::store(recorded.result, odd);
  session.wait_all();
  return recorded;
}

}  // namespace

TEST_CASE("a trace samples replayed batches: same tasks, same bits, kernels in every eighth replay") {
  QUARKSTAR_NEEDS_GPU("gpu trace samples");
  const Coord lattice{16, 16, 16, 16};
  const HostGauge gauge = reference::random_gauge(lattice, seed);
  const HostField psi = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  constexpr int batches = 12, most_gpus = 2;
  for (int gpus = 1; gpus <= std::min(most_gpus, static_cast<int>(runtime::gpus().size())); ++gpus) {
    INFO(gpus << " GPUs");
    const Recorded plain = run_batches(gpus, batches, false, gauge, psi), traced = run_batches(gpus, batches, true, gauge, psi);
    CHECK(battery::same_bits(traced.result, plain.result));
    CHECK(traced.totals.submitted == plain.totals.submitted);
    CHECK(traced.totals.executed == plain.totals.executed);
    CHECK(traced.totals.submitted == batches);
    for (const std::vector<runtime::Event>& events : traced.events) {
      int whole = 0, kernels = 0, packs_beside = 0;
      double end_of_main = 0;
      for (const runtime::Event& event : events) {
        CHECK(event.end_us >= event.begin_us);
        if (event.codelets > 1) {
          ++whole;
          continue;
        }
        ++kernels;
        packs_beside += event.side && std::string(event.name).find("pack") != std::string::npos ? 1 : 0;
        if (event.side) continue;
        CHECK(event.begin_us >= end_of_main - 0.01);  // one lane
        end_of_main = event.end_us;
      }
      CHECK(whole == batches - 2);  // the second run is the first replay; the ninth after it is the next sample
      CHECK(kernels == 2 * 16 * (gpus > 1 ? 3 : 1));
      CHECK(packs_beside == (gpus > 1 ? 2 * 16 : 0));
    }
  }
}

}  // namespace times_test
