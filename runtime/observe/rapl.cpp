// RAPL through Linux's powercap: https://www.kernel.org/doc/html/latest/power/powercap/powercap.html
#include "runtime/observe/energy.hpp"
#include "runtime/system/first_line.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

namespace quarkstar::runtime {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number_of(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (!(file >> value)) return {};
  return value;
}

/// One counter in the tree.
struct Zone {
  fs::path file;
  std::uint64_t range = 0;  ///< the counter goes from here to 0
  std::uint64_t last = 0;
};

class RaplCounter : public EnergyCounter {
 public:
  explicit RaplCounter(const std::string& powercap) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(powercap, error)) consider(entry.path());
    if (error) reason_ = fmt::format("no {} (RAPL needs Linux on an Intel or AMD processor, and a virtual machine hides it)", powercap);
    else if (zones_.empty() && reason_.empty()) reason_ = fmt::format("no package counter in {}", powercap);
    if (!reason_.empty()) zones_.clear();
  }

  EnergyReading read() override {
    if (!reason_.empty()) return {0, reason_};
    for (Zone& zone : zones_) {
      const auto now = number_of(zone.file);
      if (!now) {
        reason_ = fmt::format("{} can no longer be read", zone.file.string());
        return {0, reason_};
      }
      // It has wrapped at most once, because somebody looks often enough.
      microjoules_ += *now >= zone.last ? *now - zone.last : *now + zone.range - zone.last;
      zone.last = *now;
    }
    return {1e-6 * static_cast<double>(microjoules_), {}};
  }

  /// A package would have to take 1 kW and more to wrap in that time: ranges are 65 kJ and more.
  double longest_pause() const override { return zones_.empty() ? 0 : 20; }

 private:
  /// Packages, and DRAM, which is not in them. Left out: cores and graphics, which are in the package; psys, which has the package in it;
  /// and the second interface (intel-rapl-mmio), which counts the same again.
  void consider(const fs::path& folder) {
    if (folder.filename().string().rfind("intel-rapl:", 0) != 0) return;
    const std::string name = first_line(folder / "name");
    if (name.rfind("package", 0) != 0 && name != "dram") return;
    Zone zone{folder / "energy_uj", 0, 0};
    errno = 0;
    const auto now = number_of(zone.file), range = number_of(folder / "max_energy_range_uj");
    if (!now || !range) {
      reason_ = fmt::format("{} cannot be read ({}; the system's administrator can make it readable)", zone.file.string(),
                            errno != 0 ? std::strerror(errno) : "no number");
      return;
    }
    zone.range = *range;
    zone.last = *now;
    zones_.push_back(zone);
  }

  std::vector<Zone> zones_;
  std::uint64_t microjoules_ = 0;
  std::string reason_;
};

}  // namespace

std::unique_ptr<EnergyCounter> make_rapl_counter(const std::string& powercap) { return std::make_unique<RaplCounter>(powercap); }

}  // namespace quarkstar::runtime
