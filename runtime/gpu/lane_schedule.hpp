#pragma once
// How the steps of a program spread over several devices, each with a main and a side lane: what runs where, what waits
// for what, and where every buffer lives. Pure bookkeeping; runtime/gpu/gpu_program_run.cpp carries it out.
#include <optional>
#include <vector>

namespace quarkstar::runtime {

/// One step as the schedule sees it.
struct ScheduleStep {
  struct Use {
    int buffer;
    bool reads, writes;
    bool apart = false;  ///< writes no byte that the latest writers of the buffer touch, so need not wait for them
  };
  int device = 0;           ///< of its owner
  bool everywhere = false;  ///< every device computes it, into copies of its own of what it writes
  std::vector<Use> uses;
  bool aside = false;  ///< takes part in an exchange with others that are not devices of this program
  /// Everywhere, and a device reads what lives with it: of the rest they tell each other while they are at it.
  bool exchanges = false;
};

/// A step on one device.
struct ScheduledStep {
  int step = 0;
  int device = 0;
  int lane = 0;                 ///< 2 device: main, 2 device + 1: side
  std::vector<int> waits;       ///< indices of scheduled steps in other lanes that must have ended before
  std::vector<int> awaited_on;  ///< devices on which a step waits for this one, each once
  /// The same step on the other devices, if it exchanges: it ends on none before it has begun on all.
  std::vector<int> meets;
};

struct LaneSchedule {
  static constexpr int lanes_a_device = 2;
  std::vector<ScheduledStep> steps;  ///< in an order that respects every wait
  std::vector<int> home;             ///< device whose memory holds a buffer
  std::vector<bool> copied;          ///< buffers of which every device has a copy (device 0: the buffer itself)
};

/// Steps of one lane that run one after the other without a word from other lanes: only the first may wait for others, only the last is
/// awaited.
struct LaneSegment {
  int device = 0;
  std::vector<int> steps;  ///< indices of scheduled steps
};

/// All segments of a schedule without exchanges, in the order of their first steps. Of two steps that must not change
/// places the earlier one's segment is never behind the later one's: it is submitted first. (A step that waits begins a
/// segment, and a lane knows of an earlier step in another lane only by a wait after it.)
std::vector<LaneSegment> segments_of(const LaneSchedule& schedule);

/// Spreads steps, given in program order, over devices.
/// - A buffer lives with its reader if all readers are on one device (a face is written straight into its reader's memory), otherwise
///   with its first writer, otherwise with its first reader.
/// - A step that takes part in an exchange, because it writes into another device's memory, reads what another device writes, or says so
///   (aside), runs in the side lane of its device, so that it overlaps what the main lane does; all others, and those everywhere, in the
///   main lane. Without side_lanes all are there.
/// - Steps wait for exactly the conflicting steps (write-write, write-read, read-write) of other lanes that no earlier wait implies.
/// - The steps of an exchange follow each other, one a device. Each waits for what its own device reads and writes; when
///   one has ended, its lane knows of all that the others had waited for and had before them.
/// Nothing when a buffer that is written everywhere is written by an ordinary step too. Cost: steps times lanes.
std::optional<LaneSchedule> schedule_lanes(const std::vector<ScheduleStep>& steps, int devices, int buffers, bool side_lanes = true);

}  // namespace quarkstar::runtime
