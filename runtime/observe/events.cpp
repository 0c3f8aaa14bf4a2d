#include "runtime/observe/events.hpp"

namespace quarkstar::runtime {

void Events::record(int worker, const Event& event) {
  Lane& lane = lanes_[static_cast<std::size_t>(worker)];
  lane.totals.executed += event.skipped ? 0 : 1;
  lane.totals.flops += event.cost.flops;
  lane.totals.bytes += event.cost.bytes;
  lane.totals.busy_us += event.end_us - event.begin_us;
  if (detail_ != Detail::totals) lane.events.push_back(event);
}

Totals Events::totals() const {
  Totals sum;
  sum.submitted = submitted_.load(std::memory_order_relaxed);
  sum.submitted_parts = submitted_parts_.load(std::memory_order_relaxed);
  sum.submitted_flops = submitted_flops_.load(std::memory_order_relaxed);
  sum.submitted_bytes = submitted_bytes_.load(std::memory_order_relaxed);
  for (const Lane& lane : lanes_) {
    sum.executed += lane.totals.executed;
    sum.flops += lane.totals.flops;
    sum.bytes += lane.totals.bytes;
    sum.busy_us += lane.totals.busy_us;
  }
  return sum;
}

void Events::reset() {
  submitted_.store(0, std::memory_order_relaxed);
  submitted_parts_.store(0, std::memory_order_relaxed);
  submitted_flops_.store(0, std::memory_order_relaxed);
  submitted_bytes_.store(0, std::memory_order_relaxed);
  for (Lane& lane : lanes_) {
    lane.events.clear();
    lane.totals = {};
  }
}

}  // namespace quarkstar::runtime
