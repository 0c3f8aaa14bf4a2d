#include "runtime/simulate/lane_times.hpp"

#include <algorithm>
#include <limits>

namespace quarkstar::runtime::simulate {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// A lane with its steps, and what is left of the one that it is at.
struct Lane {
  int device = 0;
  std::vector<std::size_t> steps;
  std::size_t at = 0;
  bool running = false;
  double fixed = 0, shared = 0;

  bool done() const { return at == steps.size(); }
};

class Run {
 public:
  Run(const LaneSchedule& schedule, const std::vector<StepTime>& needs, const WaitTimes& waits, const std::vector<Message>& messages)
      : schedule_(schedule),
        needs_(needs),
        waits_(waits),
        messages_(messages),
        times_(needs.size(), {never, never}),
        reached_(needs.size(), never),
        arrival_(messages.size(), never),
        sent_by_(needs.size()),
        sent_to_(needs.size()) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
      sent_by_[static_cast<std::size_t>(messages[m].from)].push_back(m);
      sent_to_[static_cast<std::size_t>(messages[m].to)].push_back(m);
    }
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
      const auto lane = static_cast<std::size_t>(schedule.steps[i].lane);
      if (lanes_.size() <= lane) lanes_.resize(lane + 1);
      lanes_[lane].device = schedule.steps[i].device;
      lanes_[lane].steps.push_back(i);
    }
  }

  std::vector<Interval> intervals() {
    for (;;) {
      start_what_can();
      const double step = until_next_event();
      if (step == never) return std::move(times_);
      advance(step);
    }
  }

 private:
  /// Notes when the step that the lane is at has all that it waits for by itself; never: something of that is not over.
  void reach(const Lane& lane) {
    const std::size_t at = lane.steps[lane.at];
    if (reached_[at] != never) return;
    const ScheduledStep& step = schedule_.steps[at];
    double time = now_;
    for (const int before : step.waits) {
      const auto index = static_cast<std::size_t>(before);
      time = std::max(time, times_[index].end + (schedule_.steps[index].device != step.device ? waits_.signal : waits_.join));
    }
    for (const std::size_t m : sent_to_[at]) time = std::max(time, arrival_[m]);
    reached_[at] = time;
  }

  /// The step has ended: what it sends is on its way.
  void send_from(std::size_t step) {
    const auto device = static_cast<std::size_t>(schedule_.steps[step].device);
    if (wire_free_.size() <= device) wire_free_.resize(device + 1, 0);
    for (const std::size_t m : sent_by_[step]) {
      const Message& message = messages_[m];
      double begin = now_ + message.before;
      if (message.wire > 0) {
        begin = std::max(begin, wire_free_[device]);
        wire_free_[device] = begin + message.wire;
      }
      arrival_[m] = begin + message.wire + message.after;
    }
  }

  /// When the step that the lane is at may begin: where it meets others, not before it has heard that they are there.
  double ready(const Lane& lane) const {
    const std::size_t at = lane.steps[lane.at];
    double time = std::max(now_, reached_[at]);
    for (const int other : schedule_.steps[at].meets) time = std::max(time, reached_[static_cast<std::size_t>(other)] + waits_.meet);
    return time;
  }

  void start_what_can() {
    for (const Lane& lane : lanes_)
      if (!lane.running && !lane.done()) reach(lane);
    for (Lane& lane : lanes_) {
      if (lane.running || lane.done() || ready(lane) > now_) continue;
      const std::size_t step = lane.steps[lane.at];
      times_[step].begin = now_;
      lane.running = true;
      lane.fixed = needs_[step].fixed;
      lane.shared = needs_[step].shared;
    }
  }

  int sharing(int device) const {
    return static_cast<int>(std::count_if(
        lanes_.begin(), lanes_.end(), [device](const Lane& lane) { return lane.running && lane.device == device && !(lane.fixed > 0); }));
  }

  double until_next_event() const {
    double next = never;
    for (const Lane& lane : lanes_) {
      if (lane.running) next = std::min(next, lane.fixed > 0 ? lane.fixed : lane.shared * sharing(lane.device));
      else if (!lane.done()) next = std::min(next, ready(lane) - now_);
    }
    return next;
  }

  void advance(double step) {
    constexpr double rounding = 1e-9;
    std::vector<double> parts;
    for (const Lane& lane : lanes_) parts.push_back(lane.running && !(lane.fixed > 0) ? step / sharing(lane.device) : 0);
    now_ += step;
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
      Lane& lane = lanes_[l];
      if (!lane.running) continue;
      if (lane.fixed > 0) {
        lane.fixed = lane.fixed - step > rounding ? lane.fixed - step : 0;
        if (lane.fixed > 0 || lane.shared > rounding) continue;
      } else {
        lane.shared -= parts[l];
      }
      if (lane.shared > rounding) continue;
      const std::size_t ended = lane.steps[lane.at++];
      times_[ended].end = now_;
      send_from(ended);
      lane.running = false;
    }
  }

  const LaneSchedule& schedule_;
  const std::vector<StepTime>& needs_;
  WaitTimes waits_;
  const std::vector<Message>& messages_;
  double now_ = 0;
  std::vector<Lane> lanes_;
  std::vector<Interval> times_;
  std::vector<double> reached_;                              ///< of each step
  std::vector<double> arrival_;                              ///< of each message
  std::vector<std::vector<std::size_t>> sent_by_, sent_to_;  ///< messages of each step
  std::vector<double> wire_free_;                            ///< of each device: since when nothing is on its wire
};

}  // namespace

std::vector<Interval> lane_times(const LaneSchedule& schedule, const std::vector<StepTime>& needs, const WaitTimes& waits,
                                 const std::vector<Message>& messages) {
  return Run(schedule, needs, waits, messages).intervals();
}

}  // namespace quarkstar::runtime::simulate
