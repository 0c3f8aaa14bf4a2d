#pragma once
// Which worker runs a task for the fewest joules.
#include <algorithm>
#include <span>

namespace quarkstar::runtime {

/// A worker that can run the task.
struct EnergyCandidate {
  int worker = 0;
  double free_at_us = 0;   ///< when it will have done what it has, not in the past
  double takes_us = 0;     ///< the task, its data's way included
  double extra_watts = 0;  ///< busy less idle
  bool owner = false;
};

/// The candidate by which the machine's energy grows least: what the worker draws above its idle power while it runs the task, and the
/// power that is drawn whatever runs (idle devices, host) for as long as the whole is prolonged by it. all_free_at_us: when the last worker
/// will be done. Within 5 % the owner of the block is kept. Returns an index; at least one candidate.
inline std::size_t least_energy(std::span<const EnergyCandidate> candidates, double all_free_at_us, double base_watts) {
  const auto energy = [&](const EnergyCandidate& c) {
    return c.extra_watts * c.takes_us + base_watts * std::max(0.0, c.free_at_us + c.takes_us - all_free_at_us);
  };
  std::size_t best = 0;
  constexpr double clearly = 0.95;
  const auto weighed = [&](const EnergyCandidate& c) { return c.owner ? clearly * energy(c) : energy(c); };
  for (std::size_t i = 1; i < candidates.size(); ++i)
    if (weighed(candidates[i]) < weighed(candidates[best])) best = i;
  return best;
}

}  // namespace quarkstar::runtime
