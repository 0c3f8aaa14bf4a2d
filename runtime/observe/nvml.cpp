// NVML without its headers or its library at build time: https://docs.nvidia.com/deploy/nvml-api/
#include "runtime/observe/energy.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>

namespace quarkstar::runtime {
namespace {

using Device = void*;
constexpr int success = 0;

/// The functions that are used, with the signatures of nvml.h.
struct Library {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_bus_id)(const char*, Device*) = nullptr;
  int (*total_energy)(Device, unsigned long long*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  const char* (*error_text)(int) = nullptr;

  /// The name of a function that is missing, or nullptr.
  const char* load(void* handle) {
    const char* missing = nullptr;
    const auto find = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      if (function == nullptr) missing = name;
    };
    find("nvmlInit_v2", init);
    find("nvmlShutdown", shutdown);
    find("nvmlDeviceGetHandleByPciBusId_v2", by_bus_id);
    find("nvmlDeviceGetTotalEnergyConsumption", total_energy);
    find("nvmlDeviceGetPowerUsage", power);
    find("nvmlErrorString", error_text);
    return missing;
  }
};

class NvmlCounter : public EnergyCounter {
 public:
  NvmlCounter(const std::string& library, const std::vector<std::string>& pci_bus_ids) {
    handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
      reason_ = fmt::format("{} cannot be loaded", library);
      return;
    }
    if (const char* missing = nvml_.load(handle_); missing != nullptr) {
      reason_ = fmt::format("{} has no {}", library, missing);
      return;
    }
    started_ = check("nvmlInit", nvml_.init());
    for (const std::string& id : pci_bus_ids) {
      Gpu gpu;
      if (!reason_.empty() || !check("GPU " + id, nvml_.by_bus_id(id.c_str(), &gpu.device))) return;
      gpu.counts = nvml_.total_energy(gpu.device, &gpu.first) == success;
      unsigned milliwatts = 0;
      if (!gpu.counts && !check("power of GPU " + id, nvml_.power(gpu.device, &milliwatts))) return;
      gpu.watts = 1e-3 * milliwatts;
      sampled_ = sampled_ || !gpu.counts;
      gpus_.push_back(gpu);
    }
    last_ = Time::now();
  }

  ~NvmlCounter() override {
    if (started_) nvml_.shutdown();
    if (handle_ != nullptr) dlclose(handle_);
  }

  EnergyReading read() override {
    const Time::time_point now = Time::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    double joules = 0;
    for (Gpu& gpu : gpus_) {
      if (!reason_.empty()) break;
      if (gpu.counts) {
        unsigned long long millijoules = 0;
        if (check("energy counter", nvml_.total_energy(gpu.device, &millijoules)))
          joules += 1e-3 * static_cast<double>(millijoules - gpu.first);
      } else {
        unsigned milliwatts = 0;
        if (!check("power", nvml_.power(gpu.device, &milliwatts))) break;
        const double watts = 1e-3 * milliwatts;
        gpu.integral += 0.5 * (gpu.watts + watts) * seconds;
        gpu.watts = watts;
        joules += gpu.integral;
      }
    }
    last_ = now;
    return reason_.empty() ? EnergyReading{joules, {}} : EnergyReading{0, reason_};
  }

  /// The driver renews the power some ten times a second.
  double longest_pause() const override { return sampled_ && reason_.empty() ? 0.05 : 0; }

 private:
  using Time = std::chrono::steady_clock;
  struct Gpu {
    Device device = nullptr;
    bool counts = false;           ///< has the energy counter
    unsigned long long first = 0;  ///< its first value, mJ
    double watts = 0, integral = 0;
  };

  bool check(const std::string& what, int code) {
    if (code != success) reason_ = fmt::format("NVML: {}: {}", what, nvml_.error_text(code));
    return code == success;
  }

  void* handle_ = nullptr;
  Library nvml_;
  bool started_ = false, sampled_ = false;
  std::vector<Gpu> gpus_;
  Time::time_point last_;
  std::string reason_;
};

}  // namespace

std::unique_ptr<EnergyCounter> make_nvml_counter(const std::string& library, const std::vector<std::string>& pci_bus_ids) {
  return std::make_unique<NvmlCounter>(library, pci_bus_ids);
}

}  // namespace quarkstar::runtime
