#include "runtime/observe/energy.hpp"

#include <algorithm>
#include <chrono>

namespace quarkstar::runtime {
namespace {

EnergyReading difference(const EnergyReading& after, const EnergyReading& before) {
  if (!after.available()) return after;
  if (!before.available()) return before;
  const double joules = after.joules - before.joules;
  if (joules > 0) return {joules, {}};
  return {0, "the counter did not move: too short a time"};
}

/// GPUs that a run does not use.
class NoCounter : public EnergyCounter {
 public:
  EnergyReading read() override { return {0, "no GPU in use"}; }
  double longest_pause() const override { return 0; }
};

}  // namespace

EnergyReading Energy::total() const {
  if (!cpu.available() && !gpu.available()) return {0, "CPU: " + cpu.unavailable + "; GPU: " + gpu.unavailable};
  return {(cpu.available() ? cpu.joules : 0) + (gpu.available() ? gpu.joules : 0), {}};
}

std::string Energy::measured() const {
  if (cpu.available() && gpu.available()) return "CPU + GPU";
  return cpu.available() ? "CPU" : gpu.available() ? "GPU" : "";
}

Energy operator-(const Energy& after, const Energy& before) {
  return {difference(after.cpu, before.cpu), difference(after.gpu, before.gpu)};
}

EnergyMeter::EnergyMeter(const std::vector<std::string>& pci_bus_ids, const EnergySources& sources)
    : cpu_(make_rapl_counter(sources.powercap)) {
  if (pci_bus_ids.empty()) gpu_ = std::make_unique<NoCounter>();
  else gpu_ = make_nvml_counter(sources.nvml, pci_bus_ids);
  read();
  double pause = 0;
  for (const EnergyCounter* counter : {cpu_.get(), gpu_.get()})
    if (const double own = counter->longest_pause(); own > 0) pause = pause > 0 ? std::min(pause, own) : own;
  if (pause > 0) watcher_ = std::thread([this, pause] { watch(pause); });
}

EnergyMeter::~EnergyMeter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

Energy EnergyMeter::read() {
  const std::lock_guard lock(mutex_);
  return {cpu_->read(), gpu_->read()};
}

void EnergyMeter::watch(double pause) {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::duration<double>(pause), [this] { return ending_; })) {
    cpu_->read();
    gpu_->read();
  }
}

}  // namespace quarkstar::runtime
