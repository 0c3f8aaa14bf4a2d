#include "runtime/observe/events.hpp"

#include "runtime/observe/codelet_costs.hpp"
#include "runtime/observe/own_work.hpp"

#include <algorithm>

namespace quarkstar::runtime {
namespace {
thread_local Submissions own;
}

const Submissions& Events::of_this_thread() { return own; }

void Events::record(int worker, std::span<const Event> events, double busy_us) {
  Lane& lane = lanes_[static_cast<std::size_t>(worker)];
  const std::lock_guard guard(lane.mutex);
  std::int64_t executed = 0;
  Cost cost;
  for (const Event& event : events) {
    executed += event.skipped ? 0 : event.codelets;
    cost.flops += event.cost.flops;
    cost.bytes += event.cost.bytes;
  }
  lane.totals.executed += executed;
  lane.totals.flops += cost.flops;
  lane.totals.bytes += cost.bytes;
  lane.totals.busy_us += busy_us;
  lane.lifetime.executed += executed;
  lane.lifetime.busy_us += busy_us;
  lane.lifetime.bytes += cost.bytes;
  if (cost.bytes > 0) lane.lifetime.moving_us += busy_us;
  constexpr double shortest_us = 2, older = 0.95;  // on a GPU what a stopped graph skips is known by its shortness only
  if (executed > 0 && busy_us >= shortest_us * static_cast<double>(executed) && cost.bytes > 0) {
    lane.recent_bytes = older * lane.recent_bytes + cost.bytes;
    lane.recent_us = older * lane.recent_us + busy_us;
    lane.recent_gbs.store(1e-3 * lane.recent_bytes / lane.recent_us, std::memory_order_relaxed);
  }
  for (const Event& event : events) {
    const double us = event.end_us - event.begin_us;
    if (!watches_rates_ || event.skipped || !(event.cost.bytes > 0) || !(us > 0)) continue;
    Rate& rate = lane.rates[event.name];
    rate.bytes += event.cost.bytes;
    rate.us += us;
    rate.best_gbs = std::max(rate.best_gbs, 1e-3 * event.cost.bytes / us);
  }
  if (CodeletCosts* costs = CodeletCosts::of_session(); costs != nullptr)
    for (const Event& event : events)
      if (!event.skipped && !event.estimated && event.codelets == 1)
        costs->record(worker, event.name, event.cost.bytes, event.end_us - event.begin_us);
  if (detail_ != Detail::totals) lane.events.insert(lane.events.end(), events.begin(), events.end());
}

void Events::watch_rates(bool watch) {
  watches_rates_ = watch;
  if (!watch) return;
  for (Lane& lane : lanes_) {
    const std::lock_guard guard(lane.mutex);
    lane.rates.clear();
  }
}

void Events::count_submission(const Cost& cost) {
  submitted_.fetch_add(1, std::memory_order_relaxed);
  submitted_parts_.fetch_add(1, std::memory_order_relaxed);
  submitted_flops_.fetch_add(cost.flops, std::memory_order_relaxed);
  submitted_bytes_.fetch_add(cost.bytes, std::memory_order_relaxed);
  own.tasks += 1;
  own.parts += 1;
  own.cost.flops += cost.flops;
  own.cost.bytes += cost.bytes;
}

void count_own_work(const Cost& cost) {
  own.cost.flops += cost.flops;
  own.cost.bytes += cost.bytes;
}

void Events::count_fused(std::size_t parts) {
  const std::int64_t more = static_cast<std::int64_t>(parts) - 1;
  submitted_parts_.fetch_add(more, std::memory_order_relaxed);
  own.parts += more;
}

Totals Events::totals() const {
  Totals sum;
  sum.submitted = submitted_.load(std::memory_order_relaxed);
  sum.submitted_parts = submitted_parts_.load(std::memory_order_relaxed);
  sum.submitted_cost = {submitted_flops_.load(std::memory_order_relaxed), submitted_bytes_.load(std::memory_order_relaxed)};
  for (const Lane& lane : lanes_) {
    const std::lock_guard guard(lane.mutex);
    sum.executed += lane.totals.executed;
    sum.flops += lane.totals.flops;
    sum.bytes += lane.totals.bytes;
    sum.busy_us += lane.totals.busy_us;
  }
  return sum;
}

void Events::reset() {
  for (auto* count : {&submitted_, &submitted_parts_}) count->store(0, std::memory_order_relaxed);
  for (auto* sum : {&submitted_flops_, &submitted_bytes_}) sum->store(0, std::memory_order_relaxed);
  for (Lane& lane : lanes_) {
    const std::lock_guard guard(lane.mutex);
    lane.events.clear();
    lane.totals = {};
  }
}

}  // namespace quarkstar::runtime
