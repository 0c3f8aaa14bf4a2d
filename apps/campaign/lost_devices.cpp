#include "apps/campaign/lost_devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace quarkstar::app::campaign {

std::optional<DevicesLeft> gpus_without(const std::string& devices, const std::vector<std::string>& names, int lost) {
  const bool no_others = !devices.empty() && devices != "all", by_number = no_others && devices != "cuda";
  if (names.size() == 1) {
    if (no_others) return std::nullopt;
    return DevicesLeft{{"devices", "cpu", "--devices"}, "-1"};  // a number of none: nobody asks the driver for it
  }
  std::vector<std::string> left;
  std::vector<std::size_t> numbers;
  for (std::size_t gpu = 0; gpu < names.size(); ++gpu) {
    if (static_cast<int>(gpu) == lost || names[gpu].empty()) continue;
    numbers.push_back(left.size());
    left.push_back(names[gpu]);
  }
  if (left.empty()) return std::nullopt;
  const Assignment setting = by_number ? Assignment{"devices", fmt::format("{}", fmt::join(numbers, ",")), "--devices"}
                                       : Assignment{"gpus", fmt::format("{}", left.size()), "--gpus"};
  return DevicesLeft{setting, fmt::format("{}", fmt::join(left, ","))};
}

std::optional<DevicesLeft> devices_without(const runtime::Session& session, const std::vector<std::string>& uuids, int worker) {
  const int gpus = session.gpu_count();
  if (gpus == 0) {
    const int left = session.block_owners() - 1;
    if (left < 1 || worker > left) return std::nullopt;
    return DevicesLeft{{"workers", fmt::format("{}", left), "--workers"}};
  }
  if (worker >= gpus) return std::nullopt;
  std::vector<std::string> names;
  for (int gpu = 0; gpu < gpus; ++gpu) names.push_back(uuids.at(static_cast<std::size_t>(session.worker(gpu).device)));
  return gpus_without(session.options().devices, names, worker);
}

void use_what_is_left(Campaign& campaign) {
  campaign.helper = 0;
  for (Quark& quark : campaign.quarks) {
    runtime::SessionOptions& session = quark.config.session;
    session.throttles.clear();
    const int numbered = static_cast<int>(session.gpu_numbers.size());
    const int left = numbered > 0 ? numbered : session.cuda_workers > 0 ? session.cuda_workers : session.cpu_workers;
    if (quark.config.islands && *quark.config.islands > left) quark.config.islands = 0;  // one for each
  }
}

}  // namespace quarkstar::app::campaign
