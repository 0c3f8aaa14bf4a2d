#include "runtime/cut/resplit.hpp"

#include "runtime/cut/proportional_cut.hpp"

#include <algorithm>

namespace quarkstar::runtime {
namespace {

constexpr double clearly = 0.97;

std::map<int, double> sites_of_owners(const Decomposition& decomposition) {
  std::map<int, double> sites;
  for (const Block& block : decomposition.blocks()) sites[block.owner] += static_cast<double>(volume(block.extents));
  return sites;
}

/// The only direction that is cut, or -1.
int only_cut(const Decomposition& decomposition) {
  int count = 0, direction = -1;
  for (int mu = 0; mu < 4; ++mu)
    if (decomposition.is_cut(mu)) ++count, direction = mu;
  return count == 1 ? direction : -1;
}

/// Extents of the parts of each direction.
std::array<std::vector<int>, 4> cuts_of(const Decomposition& decomposition) {
  std::array<std::vector<int>, 4> cuts;
  for (std::size_t mu = 0; mu < 4; ++mu) {
    cuts[mu].resize(static_cast<std::size_t>(decomposition.grid()[mu]));
    for (const Block& block : decomposition.blocks()) cuts[mu][static_cast<std::size_t>(block.position[mu])] = block.extents[mu];
  }
  return cuts;
}

}  // namespace

void Resplitter::solved(const Decomposition& now, std::span<const double> busy_seconds, double seconds) {
  seconds_ = seconds;
  if (const int direction = only_cut(now); direction >= 0) direction_ = direction;
  for (const auto& [worker, sites] : sites_of_owners(now)) {
    const double busy = busy_seconds[static_cast<std::size_t>(worker)];
    speeds_[worker] = busy > 0 ? sites / busy : 0;
  }
}

double Resplitter::slowest(const Decomposition& decomposition) const {
  double most = 0;
  for (const auto& [worker, sites] : sites_of_owners(decomposition)) most = std::max(most, sites / speeds_.at(worker));
  return most;
}

std::optional<Decomposition> Resplitter::best_extents(const Decomposition& now, int direction) const {
  const auto mu = static_cast<std::size_t>(direction);
  std::map<int, int> blocks;
  for (const Block& block : now.blocks()) ++blocks[block.owner];
  std::vector<Share> shares;
  for (const Block& block : now.blocks())
    shares.push_back({block.owner, speeds_.at(block.owner) / blocks[block.owner], most_(block.owner, direction) / blocks[block.owner]});
  for (const auto& [worker, speed] : speeds_)
    if (blocks.count(worker) == 0) shares.push_back({worker, speed, most_(worker, direction)});

  std::optional<Decomposition> best;
  const int extent = now.lattice()[mu];
  for (const int unit : units_for(extent, domain_[mu])) {
    if (direction == 0 && unit == 1) continue;  // both parities need the same number of sites in every block
    const std::vector<int> parts = proportional_parts(extent, shares, unit, std::min(thinnest_, extent));
    if (parts.empty()) continue;
    const Decomposition candidate = cut_in_parts(now.lattice(), direction, parts, shares);
    if (!best || slowest(candidate) < clearly * slowest(*best)) best = candidate;
  }
  return best;
}

std::optional<Decomposition> Resplitter::best_owners(const Decomposition& now) const {
  std::vector<Share> shares;
  for (const auto& [worker, speed] : speeds_) {
    const double slice = static_cast<double>(now.count()) / now.lattice()[3];  // blocks as slices of the last direction
    shares.push_back({worker, speed, static_cast<int>(std::min(1e9, slice * most_(worker, 3)))});
  }
  const std::vector<int> counts = proportional_parts(now.count(), shares, 1);
  if (counts.empty()) return {};
  std::vector<int> owners;
  for (std::size_t i = 0; i < counts.size(); ++i) owners.insert(owners.end(), static_cast<std::size_t>(counts[i]), shares[i].worker);
  return Decomposition(now.lattice(), cuts_of(now), owners);
}

std::optional<Resplit> Resplitter::propose(const Decomposition& now, int remaining, double migration_seconds) const {
  if (remaining < 1 || speeds_.size() < 2) return {};
  for (const auto& [worker, speed] : speeds_)
    if (!(speed > 0)) return {};  // an owner whose time is not known
  // An uncut lattice was cut before: its only owner is the one that was left.
  const int direction = now.count() == 1 ? direction_ : only_cut(now);
  const std::optional<Decomposition> candidate = direction >= 0 ? best_extents(now, direction) : best_owners(now);
  if (!candidate) return {};
  const double before = slowest(now), after = slowest(*candidate);
  if (!(after < clearly * before) || (before - after) * remaining < migration_seconds) return {};
  return Resplit{*candidate, seconds_, seconds_ - (before - after)};
}

}  // namespace quarkstar::runtime
