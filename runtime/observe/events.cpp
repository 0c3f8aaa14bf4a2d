#include "runtime/observe/events.hpp"

namespace quarkstar::runtime {
namespace {
thread_local Submissions own;
}

const Submissions& Events::of_this_thread() { return own; }

void Events::record(int worker, const Event& event) {
  Lane& lane = lanes_[static_cast<std::size_t>(worker)];
  lane.totals.executed += event.skipped ? 0 : 1;
  lane.totals.flops += event.cost.flops;
  lane.totals.bytes += event.cost.bytes;
  lane.totals.busy_us += event.end_us - event.begin_us;
  if (detail_ != Detail::totals) lane.events.push_back(event);
}

void Events::count_submission(const Cost& cost) {
  submitted_.fetch_add(1, std::memory_order_relaxed);
  submitted_parts_.fetch_add(1, std::memory_order_relaxed);
  submitted_flops_.fetch_add(cost.flops, std::memory_order_relaxed);
  submitted_bytes_.fetch_add(cost.bytes, std::memory_order_relaxed);
  own.parts += 1;
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
