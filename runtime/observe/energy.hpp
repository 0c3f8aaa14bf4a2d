#pragma once
// Energy that processors and GPUs took, as their own counters tell.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace quarkstar::runtime {

/// Joules, or why there are none. Never a zero that means "unknown".
struct EnergyReading {
  double joules = 0;        ///< valid where `unavailable` is empty
  std::string unavailable;  ///< the reason
  bool available() const { return unavailable.empty(); }
};

/// What CPUs (all packages of the host, and memory where it has counters of its own) and the GPUs of a session took.
struct Energy {
  EnergyReading cpu, gpu;
  /// Both; where one of them cannot be read or is not used, the other; unavailable where neither can.
  EnergyReading total() const;
  /// Which parts total() counts: "CPU + GPU", "CPU" or "GPU".
  std::string measured() const;
};

/// After minus before, part by part. Counters move in steps: where one has not moved the reading is unavailable.
Energy operator-(const Energy& after, const Energy& before);

/// Where the counters are; tests put their own there.
struct EnergySources {
  std::string powercap = "/sys/class/powercap";
  std::string nvml = "libnvidia-ml.so.1";
};

/// One kind of counter. read() is called by one thread at a time.
class EnergyCounter {
 public:
  virtual ~EnergyCounter() = default;
  /// Since some time before the first call.
  virtual EnergyReading read() = 0;
  /// Seconds within which read() must be called again for the counter to stay right; 0: it needs nothing.
  virtual double longest_pause() const = 0;
};

/// CPU packages and their DRAM through RAPL (Linux powercap: intel-rapl, which AMD processors have too). Files are micro-joules that
/// wrap around at max_energy_range_uj; root-only on most machines.
std::unique_ptr<EnergyCounter> make_rapl_counter(const std::string& powercap);

/// GPUs by PCI bus id through NVML, loaded at run time: the total energy counter (millijoules; Volta and later), else the power, sampled
/// and integrated with the trapezoidal rule.
std::unique_ptr<EnergyCounter> make_nvml_counter(const std::string& library, const std::vector<std::string>& pci_bus_ids);

/// Reads both. A thread of its own looks at counters that wrap or must be sampled.
class EnergyMeter {
 public:
  /// pci_bus_ids: the GPUs that count; none: the GPU reading says that none is used.
  explicit EnergyMeter(const std::vector<std::string>& pci_bus_ids, const EnergySources& sources = {});
  ~EnergyMeter();
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;

  /// Energy so far: subtract two readings.
  Energy read();

 private:
  void watch(double pause);

  std::unique_ptr<EnergyCounter> cpu_, gpu_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::thread watcher_;
};

}  // namespace quarkstar::runtime
