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

/// The setting with which a session like this one has no such worker: `devices`, the GPUs that are left, or `workers` without GPUs. Nothing
/// where no device like it is left, or where it is a CPU beside GPUs.
std::optional<Assignment> setting_without(const runtime::Session& session, int worker);

/// Of a campaign that goes on with what is left: of settings that count workers as they were before nothing is asked for any more.
void use_what_is_left(Campaign& campaign);

/// Begins the campaign anew, with that setting in place of its own; returns where that cannot be.
using GoOnWithout = std::function<void(const LostDevice& lost, const Assignment& left)>;

}  // namespace quarkstar::app::campaign
