// perf_event_open(2), and the events that a kernel lists in /sys/bus/event_source.
#include "runtime/observe/hardware_counters.hpp"

#include "runtime/simulate/simulate.hpp"
#include "runtime/system/first_line.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

namespace quarkstar::runtime {
namespace {

namespace fs = std::filesystem;

std::string reason_for(int error, const CounterSources& sources) {
  if (error == EACCES || error == EPERM)
    return fmt::format("not permitted (kernel.perf_event_paranoid is {})",
                       first_line(sources.paranoid).empty() ? "unknown" : first_line(sources.paranoid));
  if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV) return "the processor shows no such counter (virtual machines hide them)";
  if (error == ENOSYS) return "the kernel has no perf_event_open";
  return fmt::format("perf_event_open: {}", std::strerror(error));
}

/// "event=0x04,umask=0x03" as perf_event_attr::config of an uncore counter.
std::optional<std::uint64_t> config_of(const std::string& event) {
  std::uint64_t config = 0;
  bool found = false;
  for (const auto& [name, shift] : {std::pair{"event=", 0}, std::pair{"umask=", 8}}) {
    const std::size_t at = event.find(name);
    if (at == std::string::npos) continue;
    config |= std::strtoull(event.c_str() + at + std::strlen(name), nullptr, 0) << shift;
    found = true;
  }
  if (!found) return {};
  return config;
}

/// The numbers of "0,28" or "0-1,4".
std::vector<int> numbers_of(const std::string& list) {
  std::vector<int> numbers;
  for (const char* p = list.c_str(); *p >= '0' && *p <= '9';) {
    char* end = nullptr;
    const long first = std::strtol(p, &end, 10);
    const long last = *end == '-' ? std::strtol(end + 1, &end, 10) : first;
    for (long n = first; n <= last; ++n) numbers.push_back(static_cast<int>(n));
    p = *end == ',' ? end + 1 : end;
  }
  return numbers;
}

}  // namespace

CounterReading operator-(const CounterReading& after, const CounterReading& before) {
  CounterReading difference;
  difference.unavailable = after.available() ? before.unavailable : after.unavailable;
  if (!difference.available()) return difference;
  difference.enabled = after.enabled - before.enabled;
  difference.running = after.running - before.running;
  if (difference.running > 0) difference.value = (after.value - before.value) * difference.enabled / difference.running;
  else difference.unavailable = "the counter did not run (others hold its place)";
  if (difference.available() && difference.value <= 0) difference.unavailable = "the counter does not move";
  return difference;
}

HardwareCounts operator-(const HardwareCounts& after, const HardwareCounts& before) {
  return {after.instructions - before.instructions, after.cycles - before.cycles, after.cache_misses - before.cache_misses,
          after.memory_bytes - before.memory_bytes};
}

/// One event. unit: what a count is worth.
class HardwareCounters::Counter {
 public:
  /// cpu: -1 for the threads of this process, else whatever runs there.
  Counter(std::uint32_t type, std::uint64_t config, int cpu, double unit, const CounterSources& sources) : unit_(unit) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = type;
    attributes.config = config;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    if (cpu < 0) {
      attributes.inherit = 1;
      attributes.exclude_kernel = 1;
      attributes.exclude_hv = 1;
    }
    descriptor_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes, cpu < 0 ? 0 : -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
    if (descriptor_ < 0) reason_ = reason_for(errno, sources);
  }
  ~Counter() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  CounterReading read() const {
    if (descriptor_ < 0) return {0, 0, 0, reason_};
    std::uint64_t numbers[3];
    if (::read(descriptor_, numbers, sizeof numbers) != static_cast<ssize_t>(sizeof numbers))
      return {0, 0, 0, "the counter can no longer be read"};
    return {unit_ * static_cast<double>(numbers[0]), static_cast<double>(numbers[1]), static_cast<double>(numbers[2]), {}};
  }

 private:
  int descriptor_ = -1;
  double unit_;
  std::string reason_;
};

HardwareCounters::HardwareCounters(const CounterSources& sources) {
  const auto of_threads = [&](std::uint64_t config) { return std::make_unique<Counter>(PERF_TYPE_HARDWARE, config, -1, 1.0, sources); };
  instructions_ = of_threads(PERF_COUNT_HW_INSTRUCTIONS);
  cycles_ = of_threads(PERF_COUNT_HW_CPU_CYCLES);
  cache_misses_ = of_threads(PERF_COUNT_HW_CACHE_MISSES);

  std::error_code error;
  bool controllers = false;
  for (const fs::directory_entry& device : fs::directory_iterator(sources.devices, error)) {
    if (!device.path().filename().string().starts_with("uncore_imc")) continue;
    controllers = true;
    const std::string type = first_line(device.path() / "type");
    for (const char* name : {"cas_count_read", "cas_count_write", "data_read", "data_write", "data_reads", "data_writes"}) {
      const fs::path event = device.path() / "events" / name;
      const std::string scale = first_line(event.string() + ".scale");
      const auto config = config_of(first_line(event));
      if (!config || type.empty() || scale.empty() || first_line(event.string() + ".unit") != "MiB") continue;
      const double unit = std::strtod(scale.c_str(), nullptr) * (1 << 20);
      for (const int cpu : numbers_of(first_line(device.path() / "cpumask")))
        memory_.push_back(
            std::make_unique<Counter>(static_cast<std::uint32_t>(std::strtoul(type.c_str(), nullptr, 10)), *config, cpu, unit, sources));
    }
  }
  if (memory_.empty())
    no_memory_ = fmt::format("{} (uncore_imc) in {}",
                             controllers ? "no event that is known of the memory controllers" : "no memory controller", sources.devices);
}

HardwareCounters::~HardwareCounters() = default;

HardwareCounts HardwareCounters::read() const {
  if constexpr (simulate::active) {  // the simulator's own would pass for the simulated machine's
    const CounterReading none{0, 0, 0, "simulated"};
    return {none, none, none, none};
  }
  HardwareCounts counts{instructions_->read(), cycles_->read(), cache_misses_->read(), {0, 0, 0, no_memory_}};
  for (const auto& counter : memory_) {
    const CounterReading one = counter->read();
    if (!one.available()) {
      counts.memory_bytes = one;
      break;
    }
    counts.memory_bytes.value += one.value;
    counts.memory_bytes.enabled += one.enabled;
    counts.memory_bytes.running += one.running;
  }
  return counts;
}

}  // namespace quarkstar::runtime
