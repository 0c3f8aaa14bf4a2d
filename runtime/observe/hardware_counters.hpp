#pragma once
// What processors count while kernels run: instructions, cycles, misses of the last cache, bytes from memory.
#include <memory>
#include <string>
#include <vector>

namespace quarkstar::runtime {

/// A counter, or why it cannot be read. Never a zero that means "unknown".
struct CounterReading {
  double value = 0;                 ///< valid where `unavailable` is empty
  double enabled = 0, running = 0;  ///< nanoseconds, summed over threads: a counter that shares its place with others runs part of the time
  std::string unavailable;          ///< the reason
  bool available() const { return unavailable.empty(); }
};

/// After minus before, extended from the time that the counter ran to all; unavailable where either is, or where it did not run or move.
CounterReading operator-(const CounterReading& after, const CounterReading& before);

struct HardwareCounts {
  CounterReading instructions, cycles, cache_misses;  ///< of the threads that are counted, outside the kernel; misses of the last cache
  CounterReading memory_bytes;  ///< read and written by the memory controllers of the whole host, whoever asked for them
};
HardwareCounts operator-(const HardwareCounts& after, const HardwareCounts& before);

/// Where the kernel tells about its counters; tests put their own there.
struct CounterSources {
  std::string devices = "/sys/bus/event_source/devices";
  std::string paranoid = "/proc/sys/kernel/perf_event_paranoid";
};

/// Counts with Linux's perf_event_open the thread that makes it, and every thread that this one and those start from then on: so it is made
/// before the session whose workers it is to count. Memory controllers are Intel's (uncore_imc), which count for the host and are rarely
/// permitted. What cannot be counted says why. Where a processor has cores of two kinds, those of one kind count.
class HardwareCounters {
 public:
  explicit HardwareCounters(const CounterSources& sources = {});
  ~HardwareCounters();
  HardwareCounters(const HardwareCounters&) = delete;
  HardwareCounters& operator=(const HardwareCounters&) = delete;

  /// Since the counters were made: subtract two readings.
  HardwareCounts read() const;

 private:
  class Counter;
  std::unique_ptr<Counter> instructions_, cycles_, cache_misses_;
  std::vector<std::unique_ptr<Counter>> memory_;
  std::string no_memory_;  ///< why memory_ is empty
};

}  // namespace quarkstar::runtime
