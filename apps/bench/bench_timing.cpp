#include "apps/bench/bench_timing.hpp"

#include "runtime/graph/batch.hpp"
#include "runtime/observe/kernel_marks.hpp"
#include "runtime/system/clock.hpp"

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
  for (runtime::CounterReading* reading : {&counts.instructions, &counts.cycles, &counts.cache_misses, &counts.memory_bytes})
    reading->value *= part;
  return counts;
}

runtime::HardwareCounts not_counted() {
  const runtime::CounterReading none{0, 0, 0, "not counted"};
  return {none, none, none, none};
}

/// Pairs of applications, in batches through the task graph.
class PairRuns {
 public:
  struct Size {
    int batches, pairs_a_batch, replays;
  };
  struct Pass {
    double seconds, codelets;  // codelets that ran, so as often as a graph was replayed
  };

  /// Runs a few pairs, to know them.
  PairRuns(runtime::Session& session, const std::function<void()>& submit_pair) : session_(session), submit_pair_(submit_pair) {
    run(few);
    const std::int64_t parts_before = session.events().totals().submitted_parts;
    first_ = run(few);
    codelets_a_pair_ = first_.codelets / few.pairs_a_batch;
    kernels_ = static_cast<double>(session.events().totals().submitted_parts - parts_before) / (2 * few.pairs_a_batch);
  }

  Pass run(const Size& size) const {
    const std::int64_t executed_before = session_.events().totals().executed;
    const double start = runtime::now_us();
    for (int i = 0; i < size.batches; ++i) {
      runtime::Batch batch;
      for (int k = 0; k < size.pairs_a_batch; ++k) submit_pair_();
      batch.submit({size.replays});
    }
    session_.wait_all();
    return {(runtime::now_us() - start) * 1e-6, static_cast<double>(session_.events().totals().executed - executed_before)};
  }

  /// About a tenth of a second, in batches as a solver submits them. Runs some, to have their times and their graphs.
  Size size_of_timed_pass() const {
    constexpr double long_enough = 0.1;  // seconds
    constexpr int longest_batch = 16;    // as many iterations as a solver submits at a time
    constexpr int most_replays = 32;     // of a GPU's graph in one task, as in a solver (ReplayPace)
    const auto fitting = [&](double seconds, int most) { return std::clamp(static_cast<int>(long_enough / seconds), 1, most); };
    const int batch_length = std::clamp(static_cast<int>(long_enough / seconds_a_pair(first_)), 2, longest_batch);
    for (int warm = 0; warm < 2; ++warm) run({1, batch_length, 1});  // graphs are captured in the second pass
    const double seconds_a_batch = batch_length * seconds_a_pair(run({2, batch_length, 1}));
    const int replays = runtime::Batch::can_be_replayed() ? fitting(seconds_a_batch, most_replays) : 1;
    // What CPUs do, or several tasks, is not replayed.
    return {fitting(run({1, batch_length, replays}).seconds, 100), batch_length, replays};
  }

  double seconds_a_pair(const Pass& pass) const { return pass.seconds * codelets_a_pair_ / pass.codelets; }
  double applications(const Pass& pass) const { return 2 * pass.codelets / codelets_a_pair_; }
  /// Of one application.
  double kernels() const { return kernels_; }

 private:
  static constexpr Size few{1, 2, 1};
  runtime::Session& session_;
  const std::function<void()>& submit_pair_;
  Pass first_{};
  double codelets_a_pair_ = 0, kernels_ = 0;
};

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
  const PairRuns runs(session, submit_pair);
  const PairRuns::Size size = runs.size_of_timed_pass();
  std::vector<double> times;
  const runtime::Totals before = session.events().totals();
  const runtime::HardwareCounts counted_before = counters != nullptr ? counters->read() : not_counted();
  double wall = 0, applications = 0;
  for (int r = 0; r < repetitions; ++r) {
    const PairRuns::Pass pass = runs.run(size);
    times.push_back(runs.seconds_a_pair(pass) / 2);
    wall += pass.seconds;
    applications += runs.applications(pass);
  }
  const runtime::HardwareCounts counted = (counters != nullptr ? counters->read() : not_counted()) - counted_before;
  const runtime::Totals after = session.events().totals();
  std::sort(times.begin(), times.end());
  const auto tasks = static_cast<double>(std::max<std::int64_t>(1, after.submitted - before.submitted));
  const double outside_us = wall * 1e6 * owners - (after.busy_us - before.busy_us);
  return {times.front(),
          times[times.size() / 2],
          {tasks / applications, runs.kernels(), std::max(0.0, outside_us) / tasks},
          part_of(counted, 1 / applications)};
}

namespace {

struct Covered {
  double begin_us, end_us;  ///< of the first event and of the last
  double us;                ///< while at least one was under way
};

Covered covered_by(std::vector<runtime::Event> events) {
  std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.begin_us < b.begin_us; });
  Covered covered{events.empty() ? 0 : events.front().begin_us, 0, 0};
  for (const runtime::Event& event : events) {
    covered.us += std::max(0.0, event.end_us - std::max(covered.end_us, event.begin_us));
    covered.end_us = std::max(covered.end_us, event.end_us);
  }
  return covered;
}

}  // namespace

std::optional<KernelShare> share_in_kernels(runtime::Session& session, int owners, const std::function<void()>& submit_pair) {
  constexpr int pairs = 2, most_rounds = 10;
  if (session.messages() != nullptr) return std::nullopt;
  const runtime::KernelMarks marks;
  const runtime::Events::Detail detail = session.events().detail();
  session.events().set_detail(runtime::Events::Detail::tasks);
  std::vector<runtime::Event> all;
  double us = 0;
  // Of a graph's replays every eighth has events for its kernels, others one for all; a graph that is not there yet is made in the first
  // round.
  for (int round = 0; round == 0 || (round < most_rounds && all.size() <= static_cast<std::size_t>(owners)); ++round) {
    session.events().reset();
    runtime::Batch batch;
    for (int pair = 0; pair < pairs; ++pair) submit_pair();
    batch.submit();
    session.wait_all();
    all.clear();
    us = 0;
    for (int worker = 0; round > 0 && worker < session.block_owners(); ++worker) {
      const std::vector<runtime::Event>& events = session.events().of_worker(worker);
      us += covered_by(events).us;
      all.insert(all.end(), events.begin(), events.end());
    }
  }
  const Covered whole = covered_by(all);
  const KernelShare share{static_cast<double>(session.events().totals().executed) / (2 * pairs),
                          us / owners / (whole.end_us - whole.begin_us)};
  session.events().set_detail(detail);
  session.events().reset();
  if (all.size() <= static_cast<std::size_t>(owners)) return std::nullopt;
  return share;
}

}  // namespace quarkstar::app
