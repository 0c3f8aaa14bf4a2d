#include "runtime/observe/events.hpp"

namespace quarkstar::runtime {

void Events::record(int worker, std::span<const Event> events, double busy_us) {
  Lane& lane = lanes_[static_cast<std::size_t>(worker)];
  const std::lock_guard guard(lane.mutex);
  for (const Event& event : events) {
    lane.totals.executed += event.skipped ? 0 : event.codelets;
    lane.totals.flops += event.cost.flops;
    lane.totals.bytes += event.cost.bytes;
    lane.lifetime.executed += event.skipped ? 0 : event.codelets;
    lane.lifetime.bytes += event.cost.bytes;
    const double us = event.end_us - event.begin_us;
    constexpr double shortest_us = 2, older = 0.95;  // on a GPU a task of a stopped graph is known by its shortness only
    if (event.skipped || us < shortest_us || !(event.cost.bytes > 0)) continue;
    lane.recent_bytes = older * lane.recent_bytes + event.cost.bytes;
    lane.recent_us = older * lane.recent_us + us;
    lane.recent_gbs.store(1e-3 * lane.recent_bytes / lane.recent_us, std::memory_order_relaxed);
  }
  lane.totals.busy_us += busy_us;
  lane.lifetime.busy_us += busy_us;
  if (detail_ != Detail::totals) lane.events.insert(lane.events.end(), events.begin(), events.end());
}

void Events::count_submission(const Cost& cost) {
  submitted_.fetch_add(1, std::memory_order_relaxed);
  submitted_parts_.fetch_add(1, std::memory_order_relaxed);
  submitted_flops_.fetch_add(cost.flops, std::memory_order_relaxed);
  submitted_bytes_.fetch_add(cost.bytes, std::memory_order_relaxed);
}

Events::Lifetime Events::lifetime(int worker) const {
  const Lane& lane = lanes_[static_cast<std::size_t>(worker)];
  const std::lock_guard guard(lane.mutex);
  return lane.lifetime;
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
