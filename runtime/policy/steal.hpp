#pragma once
#include <algorithm>

namespace quarkstar::runtime {

/// A task that waits for its owner, as an idle worker sees it. Microseconds.
struct Loot {
  double owner_begins_us = 0;  ///< when the owner will have done what is before it
  double owner_takes_us = 0, thief_takes_us = 0;
  double moving_us = 0;  ///< its data to the thief and the result back
};

/// How much earlier the task is done if the thief takes it now; what is gained must be worth the risk of a wrong prediction, 10 us and a
/// tenth of the task, or the answer is 0.
inline double gain_of_stealing(const Loot& loot, double now_us) {
  const double by_owner = std::max(now_us, loot.owner_begins_us) + loot.owner_takes_us;
  const double by_thief = now_us + loot.moving_us + loot.thief_takes_us;
  const double gain = by_owner - by_thief;
  return gain > std::max(10.0, 0.1 * loot.thief_takes_us) ? gain : 0;
}

}  // namespace quarkstar::runtime
