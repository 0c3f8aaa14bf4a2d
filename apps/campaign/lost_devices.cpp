#include "apps/campaign/lost_devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace quarkstar::app::campaign {

std::optional<DevicesLeft> devices_without(const runtime::Session& session, const std::vector<std::string>& uuids, int worker) {
  const int gpus = session.gpu_count();
  if (gpus == 0) {
    const int left = session.block_owners() - 1;
    if (left < 1 || worker > left) return std::nullopt;
    return DevicesLeft{{"workers", fmt::format("{}", left), "--workers"}};
  }
  if (worker >= gpus) return std::nullopt;
  if (gpus == 1) {
    if (session.options().devices == "cuda") return std::nullopt;
    return DevicesLeft{{"devices", "cpu", "--devices"}, "-1"};  // a number of none: nobody asks the driver for it
  }
  std::vector<std::string> left;
  for (int gpu = 0; gpu < gpus; ++gpu)
    if (gpu != worker) left.push_back(uuids.at(static_cast<std::size_t>(session.worker(gpu).device)));
  return DevicesLeft{{"gpus", fmt::format("{}", left.size()), "--gpus"}, fmt::format("{}", fmt::join(left, ","))};
}

void use_what_is_left(Campaign& campaign) {
  campaign.helper = 0;
  for (Quark& quark : campaign.quarks) {
    runtime::SessionOptions& session = quark.config.session;
    session.throttles.clear();
    const int left = session.cuda_workers > 0 ? session.cuda_workers : session.cpu_workers;
    if (quark.config.islands && *quark.config.islands > left) quark.config.islands = 0;  // one for each
  }
}

}  // namespace quarkstar::app::campaign
