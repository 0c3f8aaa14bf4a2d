#pragma once
#include "runtime/observe/events.hpp"

#include <span>

namespace quarkstar::runtime {

/// Cuts [begin_us, end_us] among events in proportion to their bytes, evenly where none has any: what is known of the parts of a task
/// whose time is known only as a whole.
inline void share_interval(std::span<Event> events, double begin_us, double end_us) {
  double bytes = 0;
  for (const Event& event : events) bytes += event.cost.bytes;
  double begin = begin_us, done = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    done += bytes > 0 ? events[i].cost.bytes / bytes : 1.0 / static_cast<double>(events.size());
    const double end = i + 1 == events.size() ? end_us : begin_us + done * (end_us - begin_us);
    events[i].begin_us = begin;
    events[i].end_us = begin = end;
    events[i].estimated = events.size() > 1;
  }
}

/// Such parts as one event, which says no more than what is known.
inline Event join_interval(std::span<const Event> events, double begin_us, double end_us) {
  Event joined{"batch", -1, begin_us, end_us, {}, false, false, 0};
  for (const Event& event : events) {
    joined.cost.flops += event.cost.flops;
    joined.cost.bytes += event.cost.bytes;
    joined.codelets += event.codelets;
  }
  return joined;
}

}  // namespace quarkstar::runtime
