#include "apps/campaign/lost_devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace quarkstar::app::campaign {

std::optional<Assignment> setting_without(const runtime::Session& session, int worker) {
  const int owners = session.block_owners();
  if (owners < 2 || worker >= owners) return std::nullopt;
  if (session.gpu_count() == 0) return Assignment{"workers", fmt::format("{}", owners - 1), "--workers"};
  std::vector<int> left;
  for (int gpu = 0; gpu < owners; ++gpu)
    if (gpu != worker) left.push_back(session.worker(gpu).device);
  return Assignment{"devices", fmt::format("{}", fmt::join(left, ",")), "--devices"};
}

void use_what_is_left(Campaign& campaign) {
  campaign.helper.reset();
  for (Quark& quark : campaign.quarks) {
    runtime::SessionOptions& session = quark.config.session;
    session.throttles.clear();
    const int left = session.gpu_numbers.empty() ? session.cpu_workers : static_cast<int>(session.gpu_numbers.size());
    if (quark.config.islands && *quark.config.islands > left) quark.config.islands = 0;  // one for each
  }
}

}  // namespace quarkstar::app::campaign
