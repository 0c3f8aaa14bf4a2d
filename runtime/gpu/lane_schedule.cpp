#include "runtime/gpu/lane_schedule.hpp"

#include <algorithm>

namespace quarkstar::runtime {
namespace {

constexpr int nobody = -1, several = -2;

/// Who uses a buffer.
struct Users {
  int reader = nobody, first_reader = nobody, writer = nobody, first_writer = nobody;  ///< reader, writer: the only device, or several
  bool written_everywhere = false;

  void read_by(int device) {
    if (first_reader == nobody) first_reader = device;
    reader = reader == nobody || reader == device ? device : several;
  }
  void write_by(int device) {
    if (first_writer == nobody) first_writer = device;
    writer = writer == nobody || writer == device ? device : several;
  }
  int home() const {
    if (reader >= 0) return reader;
    return first_writer >= 0 ? first_writer : std::max(first_reader, 0);
  }
};

/// Steps that the next use of a buffer must look at.
struct LastUses {
  std::vector<int> before;   ///< what the first of the writers had to wait for
  std::vector<int> writers;  ///< the latest; several when they write apart
  std::vector<int> readers;  ///< since the writers

  std::vector<int> must_end_before(const ScheduleStep::Use& use) const {
    if (!use.writes) return writers;
    if (joins(use)) return before;
    std::vector<int> all = writers;
    all.insert(all.end(), readers.begin(), readers.end());
    return all;
  }
  void add(const ScheduleStep::Use& use, int index) {
    if (!use.writes) {
      readers.push_back(index);
    } else if (joins(use)) {
      writers.push_back(index);
    } else {
      before = must_end_before(use);
      writers = {index};
      readers.clear();
    }
  }

 private:
  bool joins(const ScheduleStep::Use& use) const { return use.apart && readers.empty() && !writers.empty(); }
};

/// Knowledge of a lane: for every lane, the latest step that is known to have ended.
using Clock = std::vector<int>;

class Scheduler {
 public:
  Scheduler(LaneSchedule& schedule, const std::vector<Users>& users, int devices, int buffers, bool side_lanes)
      : schedule_(schedule),
        users_(users),
        lanes_(devices * LaneSchedule::lanes_a_device),
        devices_(devices),
        side_lanes_(side_lanes),
        clocks_(static_cast<std::size_t>(lanes_), Clock(static_cast<std::size_t>(lanes_), nobody)),
        uses_(static_cast<std::size_t>(buffers * devices)) {}

  void add(int number, const ScheduleStep& step, int device) {
    const int index = place(number, step, device);
    Clock& clock = clock_of(index);
    clock[static_cast<std::size_t>(lane_of(index))] = index;
    ended_.push_back(clock);
  }

  /// The step on all devices, which meet in it.
  void add_exchange(int number, const ScheduleStep& step) {
    const int first = static_cast<int>(schedule_.steps.size());
    for (int device = 0; device < devices_; ++device) place(number, step, device);
    Clock met(static_cast<std::size_t>(lanes_), nobody);
    for (int index = first; index < first + devices_; ++index) join(met, clock_of(index));
    for (int index = first; index < first + devices_; ++index) {
      Clock& clock = clock_of(index);
      clock = met;
      clock[static_cast<std::size_t>(lane_of(index))] = index;
      ended_.push_back(clock);
      for (int other = first; other < first + devices_; ++other)
        if (other != index) schedule_.steps[static_cast<std::size_t>(index)].meets.push_back(other);
    }
  }

 private:
  static void join(Clock& clock, const Clock& known) {
    for (std::size_t lane = 0; lane < known.size(); ++lane) clock[lane] = std::max(clock[lane], known[lane]);
  }
  int lane_of(int index) const { return schedule_.steps[static_cast<std::size_t>(index)].lane; }
  Clock& clock_of(int index) { return clocks_[static_cast<std::size_t>(lane_of(index))]; }

  /// Whether the step on this device leaves this use to another.
  bool is_elsewhere(const ScheduleStep& step, const ScheduleStep::Use& use, int device) const {
    const auto buffer = static_cast<std::size_t>(use.buffer);
    return step.exchanges && !schedule_.copied[buffer] && schedule_.home[buffer] != device;
  }

  /// Puts the step into a lane behind what it must wait for; returns its index.
  int place(int number, const ScheduleStep& step, int device) {
    const int index = static_cast<int>(schedule_.steps.size());
    ScheduledStep scheduled{number, device, device * LaneSchedule::lanes_a_device, {}, {}, {}};
    if (side_lanes_ && step.aside) ++scheduled.lane;
    std::vector<int> after;
    for (const ScheduleStep::Use& use : step.uses) {
      if (is_elsewhere(step, use, device)) continue;
      if (side_lanes_ && !step.everywhere && is_exchanged(use, device)) scheduled.lane = device * LaneSchedule::lanes_a_device + 1;
      const std::vector<int> earlier = uses_of(use.buffer, device).must_end_before(use);
      after.insert(after.end(), earlier.begin(), earlier.end());
    }
    Clock& clock = clocks_[static_cast<std::size_t>(scheduled.lane)];
    // The latest first: it may imply the others.
    std::sort(after.rbegin(), after.rend());
    for (const int earlier : after) {
      ScheduledStep& before = schedule_.steps[static_cast<std::size_t>(earlier)];
      if (before.lane == scheduled.lane || clock[static_cast<std::size_t>(before.lane)] >= earlier) continue;
      if (std::find(before.awaited_on.begin(), before.awaited_on.end(), device) == before.awaited_on.end())
        before.awaited_on.push_back(device);
      scheduled.waits.push_back(earlier);
      join(clock, ended_[static_cast<std::size_t>(earlier)]);
    }
    for (const ScheduleStep::Use& use : step.uses)
      if (!is_elsewhere(step, use, device)) uses_of(use.buffer, device).add(use, index);
    schedule_.steps.push_back(std::move(scheduled));
    return index;
  }

  /// Whether a use on this device writes into another's memory, or reads here what another device writes.
  bool is_exchanged(const ScheduleStep::Use& use, int device) const {
    const auto buffer = static_cast<std::size_t>(use.buffer);
    if (schedule_.copied[buffer]) return false;
    if (use.writes && schedule_.home[buffer] != device) return true;
    const int writer = users_[buffer].writer;
    return use.reads && writer != nobody && writer != device;
  }

  LastUses& uses_of(int buffer, int device) {
    const int copy = schedule_.copied[static_cast<std::size_t>(buffer)] ? device : 0;
    return uses_[static_cast<std::size_t>(buffer * devices_ + copy)];
  }

  LaneSchedule& schedule_;
  const std::vector<Users>& users_;
  int lanes_, devices_;
  bool side_lanes_;
  std::vector<Clock> clocks_, ended_;
  std::vector<LastUses> uses_;
};

}  // namespace

std::vector<LaneSegment> segments_of(const LaneSchedule& schedule) {
  std::vector<LaneSegment> segments;
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> open;  // of each lane, its segment that may go on
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const ScheduledStep& step = schedule.steps[i];
    const auto lane = static_cast<std::size_t>(step.lane);
    if (open.size() <= lane) open.resize(lane + 1, none);
    if (open[lane] == none || !step.waits.empty()) {
      open[lane] = segments.size();
      segments.push_back({step.device, {}});
    }
    segments[open[lane]].steps.push_back(static_cast<int>(i));
    if (!step.awaited_on.empty()) open[lane] = none;
  }
  return segments;
}

std::optional<LaneSchedule> schedule_lanes(const std::vector<ScheduleStep>& steps, int devices, int buffers, bool side_lanes) {
  std::vector<Users> users(static_cast<std::size_t>(buffers));
  for (const ScheduleStep& step : steps)
    for (const ScheduleStep::Use& use : step.uses) {
      Users& of = users[static_cast<std::size_t>(use.buffer)];
      if (use.writes && step.everywhere) of.written_everywhere = true;
      if (use.writes && !step.everywhere) of.write_by(step.device);
      if (use.reads) of.read_by(step.device);
      if (use.reads && step.everywhere && devices > 1) of.reader = several;
    }
  LaneSchedule schedule;
  for (const Users& of : users) {
    if (of.written_everywhere && of.writer != nobody) return std::nullopt;
    schedule.copied.push_back(of.written_everywhere);
    schedule.home.push_back(of.written_everywhere ? 0 : of.home());
  }
  Scheduler scheduler(schedule, users, devices, buffers, side_lanes);
  for (std::size_t number = 0; number < steps.size(); ++number) {
    const ScheduleStep& step = steps[number];
    if (step.exchanges) {
      scheduler.add_exchange(static_cast<int>(number), step);
      continue;
    }
    for (int device = step.everywhere ? 0 : step.device; device < (step.everywhere ? devices : step.device + 1); ++device)
      scheduler.add(static_cast<int>(number), step, device);
  }
  return schedule;
}

}  // namespace quarkstar::runtime
