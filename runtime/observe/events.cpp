#include "runtime/observe/events.hpp"

namespace quarkstar::runtime {

void Events::record(int worker, const Event& event) {
  Lane& lane = lanes_[static_cast<std::size_t>(worker)];
  lane.totals.executed += event.skipped ? 0 : 1;
  lane.totals.flops += event.cost.flops;
  lane.totals.bytes += event.cost.bytes;
  const double us = event.end_us - event.begin_us;
  lane.totals.busy_us += us;
  lane.lifetime.executed += event.skipped ? 0 : 1;
  lane.lifetime.busy_us += us;
  lane.lifetime.bytes += event.cost.bytes;
  constexpr double shortest_us = 2, older = 0.95;  // on a GPU a task of a stopped graph is known by its shortness only
  if (!event.skipped && us >= shortest_us && event.cost.bytes > 0) {
    lane.recent_bytes = older * lane.recent_bytes + event.cost.bytes;
    lane.recent_us = older * lane.recent_us + us;
    lane.recent_gbs.store(1e-3 * lane.recent_bytes / lane.recent_us, std::memory_order_relaxed);
  }
  if (detail_ != Detail::totals) lane.events.push_back(event);
}

void Events::count_submission(const Cost& cost) {
  submitted_.fetch_add(1, std::memory_order_relaxed);
  submitted_parts_.fetch_add(1, std::memory_order_relaxed);
  submitted_flops_.fetch_add(cost.flops, std::memory_order_relaxed);
  submitted_bytes_.fetch_add(cost.bytes, std::memory_order_relaxed);
}

Totals Events::totals() const {
  Totals sum;
  sum.submitted = submitted_.load(std::memory_order_relaxed);
  sum.submitted_parts = submitted_parts_.load(std::memory_order_relaxed);
  sum.submitted_cost = {submitted_flops_.load(std::memory_order_relaxed), submitted_bytes_.load(std::memory_order_relaxed)};
  for (const Lane& lane : lanes_) {
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
    lane.events.clear();
    lane.totals = {};
  }
}

}  // namespace quarkstar::runtime
