#pragma once
// When the steps of a program over several GPUs run.
#include "runtime/gpu/lane_schedule.hpp"

#include <vector>

namespace quarkstar::runtime::simulate {

/// What one scheduled step needs, microseconds.
struct StepTime {
  double fixed = 0;   ///< launch, way over the link: takes nothing from what runs beside it
  double shared = 0;  ///< alone on its device; steps that run beside each other there get equal parts of it
};

struct Interval {
  double begin = 0, end = 0;
};

/// How long after a step's end those that wait for it learn of it, microseconds.
struct WaitTimes {
  double signal = 0;     ///< on another device
  double join = 0;       ///< in the other lane of its own
  double meet = signal;  ///< on another device, for steps that exchange
};

/// What one step sends to another, which begins when it has come: `before` after the sender's end it goes over the wire of the sender's
/// device, behind what is there, and arrives `after` microseconds later.
struct Message {
  int from = 0, to = 0;  ///< indices of scheduled steps
  double before = 0, wire = 0, after = 0;
};

/// Intervals of the scheduled steps from 0 on. Each lane takes its steps in order; a step begins when it knows that those that it waits
/// for have ended, and one that exchanges when it also knows that the others have got to theirs. Messages of a step go in the order in
/// which they are given. Cost: steps times lanes.
std::vector<Interval> lane_times(const LaneSchedule& schedule, const std::vector<StepTime>& needs, const WaitTimes& waits,
                                 const std::vector<Message>& messages = {});

}  // namespace quarkstar::runtime::simulate
