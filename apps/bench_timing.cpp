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
  const auto seconds_for = [&](int pairs) {
    const double start = runtime::now_us();
    constexpr int pairs_a_batch = 16;  // as many iterations as a solver submits at a time
    for (int i = 0; i < pairs; i += pairs_a_batch) {
      runtime::Batch batch;
      for (int k = i; k < std::min(pairs, i + pairs_a_batch); ++k) submit_pair();
      batch.submit();
    }
    session.wait_all();
    return (runtime::now_us() - start) * 1e-6;
  };
  seconds_for(2);
  const int pairs = std::clamp(static_cast<int>(0.1 / (seconds_for(2) / 2)), 2, 1600);
  for (int warm = 0; warm < 2; ++warm) seconds_for(pairs);  // graphs are captured in the second pass
  std::vector<double> times;
  const runtime::Totals before = session.events().totals();
  const runtime::HardwareCounts counted_before = counters != nullptr ? counters->read() : not_counted();
  double wall = 0;
  for (int r = 0; r < repetitions; ++r) {
    times.push_back(seconds_for(pairs) / (2 * pairs));
    wall += times.back() * 2 * pairs;
  }
  const runtime::HardwareCounts counted = (counters != nullptr ? counters->read() : not_counted()) - counted_before;
  const runtime::Totals after = session.events().totals();
  std::sort(times.begin(), times.end());
  const auto tasks = static_cast<double>(std::max<std::int64_t>(1, after.submitted - before.submitted));
  const auto kernels = static_cast<double>(after.submitted_parts - before.submitted_parts);
  const double applications = 2.0 * pairs * repetitions, outside_us = wall * 1e6 * owners - (after.busy_us - before.busy_us);
  return {times.front(),
          times[times.size() / 2],
          {tasks / applications, kernels / applications, std::max(0.0, outside_us) / tasks},
          part_of(counted, 1 / applications)};
}

}  // namespace quarkstar::app
