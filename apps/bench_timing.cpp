#include "apps/bench_timing.hpp"

#include "runtime/batch.hpp"
#include "runtime/clock.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace quarkstar::app {

std::complex<double> wavy_number(std::size_t i) {
  return {std::sin(0.37 * static_cast<double>(i) + 0.2), std::cos(0.23 * static_cast<double>(i) + 0.5)};
}

namespace {

/// A part of what has been counted.
runtime::HardwareCounts part_of(runtime::HardwareCounts counts, double part) {
  for (runtime::CounterReading* reading : {&counts.instructions, &counts.cycles, &counts.cache_misses, &counts.memory_bytes}) reading->value *= part;
  return counts;
}

runtime::HardwareCounts not_counted() {
  const runtime::CounterReading none{0, 0, 0, "not counted"};
  return {none, none, none, none};
}

}  // namespace

DslashTiming dslash_timing(const PairTiming& times, const KernelBytes& kernel, double sites, int owners) {
  DslashTiming timing;
  timing.best_gflops = kernel.flops * sites / times.best * 1e-9;
  timing.median_gflops = kernel.flops * sites / times.median * 1e-9;
  timing.best_gbs = kernel.bytes * sites / times.best * 1e-9;
  timing.runtime_cost = times.runtime_cost;
  timing.kernel = kernel;
  timing.owners = owners;
  timing.counts_a_site = part_of(times.counts, 1 / sites);
  timing.pages = runtime::huge_page_use();
  return timing;
}

PairTiming time_pairs(runtime::Session& session, int owners, int repetitions, const std::function<void()>& submit_pair,
                      const runtime::HardwareCounters* counters) {
  struct Pass {
    double seconds, codelets;  // codelets that ran, so as often as a graph was replayed
  };
  const auto run = [&](int batches, int pairs_a_batch, int replays) -> Pass {
    const std::int64_t executed_before = session.events().totals().executed;
    const double start = runtime::now_us();
    for (int i = 0; i < batches; ++i) {
      runtime::Batch batch;
      for (int k = 0; k < pairs_a_batch; ++k) submit_pair();
      batch.submit({replays});
    }
    session.wait_all();
    return {(runtime::now_us() - start) * 1e-6, static_cast<double>(session.events().totals().executed - executed_before)};
  };
  constexpr double long_enough = 0.1;  // seconds of a pass
  constexpr int longest_batch = 16;    // as many iterations as a solver submits at a time
  constexpr int most_replays = 32;     // of a GPU's graph in one task, as in a solver (ReplayPace)
  run(1, 2, 1);
  const std::int64_t parts_before = session.events().totals().submitted_parts;
  const Pass first = run(1, 2, 1);
  const double codelets_a_pair = first.codelets / 2;
  const double kernels = static_cast<double>(session.events().totals().submitted_parts - parts_before) / 4;
  const auto seconds_a_pair = [&](const Pass& pass) { return pass.seconds * codelets_a_pair / pass.codelets; };
  const int batch_length = std::clamp(static_cast<int>(long_enough / seconds_a_pair(first)), 2, longest_batch);
  for (int warm = 0; warm < 2; ++warm) run(1, batch_length, 1);  // graphs are captured in the second pass
  const double seconds_a_batch = batch_length * seconds_a_pair(run(2, batch_length, 1));
  const auto fitting = [&](double seconds, int most) { return std::clamp(static_cast<int>(long_enough / seconds), 1, most); };
  const int replays = runtime::Batch::can_be_replayed() ? fitting(seconds_a_batch, most_replays) : 1;
  // What CPUs do, or several tasks, is not replayed.
  const int batches = fitting(run(1, batch_length, replays).seconds, 100);
  std::vector<double> times;
  const runtime::Totals before = session.events().totals();
  const runtime::HardwareCounts counted_before = counters != nullptr ? counters->read() : not_counted();
  double wall = 0, applications = 0;
  for (int r = 0; r < repetitions; ++r) {
    const Pass pass = run(batches, batch_length, replays);
    times.push_back(seconds_a_pair(pass) / 2);
    wall += pass.seconds;
    applications += 2 * pass.codelets / codelets_a_pair;
  }
  const runtime::HardwareCounts counted = (counters != nullptr ? counters->read() : not_counted()) - counted_before;
  const runtime::Totals after = session.events().totals();
  std::sort(times.begin(), times.end());
  const auto tasks = static_cast<double>(std::max<std::int64_t>(1, after.submitted - before.submitted));
  const double outside_us = wall * 1e6 * owners - (after.busy_us - before.busy_us);
  return {times.front(),
          times[times.size() / 2],
          {tasks / applications, kernels, std::max(0.0, outside_us) / tasks},
          part_of(counted, 1 / applications)};
}

}  // namespace quarkstar::app
