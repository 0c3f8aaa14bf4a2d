#pragma once
// Devices that fail in the middle of a campaign: the others do its rows.
#include "apps/campaign/campaign.hpp"
#include "runtime/graph/session.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app::campaign {

struct LostDevice {
  std::string name, reason;
};

/// With what a program begins whose session is like another one but for a device.
struct DevicesLeft {
  Assignment setting;
  std::optional<std::string> visible_gpus{};  ///< $CUDA_VISIBLE_DEVICES, if it is to change
};

/// Without one of a session's GPUs: `gpus`, or `devices` where they were asked for by numbers; they are made the only ones that the program
/// sees, by name, since a device that the driver has lost changes the numbers of others. GPUs without a name are left out too. Without the
/// last GPU the CPUs are left (`devices = cpu`), unless GPUs alone were asked for (`cuda`, or numbers). Nothing where no device is left.
/// devices: the setting of that name; names: of each GPU's worker in turn.
std::optional<DevicesLeft> gpus_without(const std::string& devices, const std::vector<std::string>& names, int lost);

/// Without this worker's device: gpus_without(), or without GPUs fewer `workers`. Nothing where it is a CPU beside GPUs. uuids:
/// gpu_uuids(), asked for while all was well.
std::optional<DevicesLeft> devices_without(const runtime::Session& session, const std::vector<std::string>& uuids, int worker);

/// Of a campaign that goes on with what is left: of settings that count workers as they were before nothing is asked for any more.
void use_what_is_left(Campaign& campaign);

/// Begins the campaign anew, with that in place of its own; returns where that cannot be.
using GoOnWithout = std::function<void(const LostDevice& lost, const DevicesLeft& left)>;

}  // namespace quarkstar::app::campaign
