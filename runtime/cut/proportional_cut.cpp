#include "runtime/cut/proportional_cut.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace quarkstar::runtime {

namespace {

/// Gives `rest`, too thin for a part of its own, to an owner without a part, together with layers of another one. False where that cannot
/// be.
bool begin_with_rest(std::vector<int>& parts, const std::vector<Share>& shares, int rest, int first) {
  for (std::size_t to = 0; to < parts.size(); ++to) {
    if (parts[to] > 0 || shares[to].most < first || !(shares[to].speed > 0)) continue;
    for (std::size_t from = 0; from < parts.size(); ++from) {
      if (parts[from] - (first - rest) < first) continue;
      parts[from] -= first - rest;
      parts[to] = first;
      return true;
    }
  }
  return false;
}

/// Whether consecutive parts can be dealt to these owners, none of whom gets more than `limit`.
bool can_deal(std::span<const std::int64_t> work, int owners, std::int64_t limit) {
  std::int64_t load = limit;
  int used = 0;
  for (const std::int64_t part : work) {
    if (part > limit) return false;
    if (load + part > limit) ++used, load = 0;
    load += part;
  }
  return used <= owners;
}

/// The least that the owner with most can have.
std::int64_t least_limit(std::span<const std::int64_t> work, int owners) {
  std::int64_t low = *std::max_element(work.begin(), work.end()), high = std::accumulate(work.begin(), work.end(), std::int64_t{0});
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (can_deal(work, owners, middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

}  // namespace

std::vector<int> proportional_parts(int extent, const std::vector<Share>& shares, int unit, int thinnest) {
  std::vector<int> parts(shares.size(), 0);
  const int first = (thinnest + unit - 1) / unit * unit;
  // One unit after the other to whom it delays least: for parts that all take time in proportion to their thickness that is optimal.
  for (int rest = extent; rest > 0;) {
    int best = -1, best_step = 0;
    double least = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const int step = parts[i] == 0 ? first : unit;
      const double time = (parts[i] + step) / shares[i].speed;
      if (step > rest || parts[i] + step > shares[i].most || !(shares[i].speed > 0)) continue;
      if (best < 0 || time < least) best = static_cast<int>(i), best_step = step, least = time;
    }
    if (best < 0) return begin_with_rest(parts, shares, rest, first) ? parts : std::vector<int>{};
    parts[static_cast<std::size_t>(best)] += best_step;
    rest -= best_step;
  }
  return parts;
}

std::vector<int> parts_for_all(int extent, const std::vector<double>& weights, int thinnest, int multiple) {
  constexpr double clear_gain = 0.9;
  const bool equal = std::adjacent_find(weights.begin(), weights.end(), std::not_equal_to<>()) == weights.end();
  const auto count = static_cast<int>(weights.size());
  if (count == 0) return {};
  std::vector<int> best;
  double least = 0;
  for (const int lanes : {4, 2, 1}) {
    const int unit = std::lcm(lanes, multiple), first = (thinnest + unit - 1) / unit * unit;
    if (extent % unit != 0 || extent / first < count) continue;
    std::vector<int> parts(weights.size(), first);
    const auto time = [&](std::size_t i, int more) { return (parts[i] + more) / weights[i]; };
    // One unit after the other to whom it delays least.
    for (int rest = extent - count * first; rest > 0; rest -= unit) {
      std::size_t to = 0;
      for (std::size_t i = 1; i < parts.size(); ++i)
        if (time(i, unit) < time(to, unit)) to = i;
      parts[to] += unit;
    }
    double longest = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) longest = std::max(longest, time(i, 0));
    if (!best.empty() && longest >= clear_gain * least) continue;
    best = parts;
    least = longest;
    if (equal) break;
  }
  return best;
}

std::vector<int> contiguous_owners(std::span<const std::int64_t> work, int owners) {
  std::vector<int> owner_of;
  if (std::adjacent_find(work.begin(), work.end(), std::not_equal_to<>()) == work.end()) {
    for (std::size_t part = 0; part < work.size(); ++part)
      owner_of.push_back(static_cast<int>(part * static_cast<std::size_t>(owners) / work.size()));
    return owner_of;
  }
  const std::int64_t limit = least_limit(work, owners);
  std::int64_t rest = std::accumulate(work.begin(), work.end(), std::int64_t{0});
  for (int owner = 0; owner < owners; ++owner) {
    const int later = owners - owner - 1;
    const double mean = static_cast<double>(rest) / (later + 1);
    for (std::int64_t load = 0; owner_of.size() < work.size();) {
      const std::span<const std::int64_t> left = work.subspan(owner_of.size());
      const bool is_near_mean = static_cast<double>(load) + 0.5 * static_cast<double>(left.front()) > mean;
      if (load > 0 && later > 0 &&
          (load + left.front() > limit || left.size() <= static_cast<std::size_t>(later) || (is_near_mean && can_deal(left, later, limit))))
        break;
      owner_of.push_back(owner);
      load += left.front();
      rest -= left.front();
    }
  }
  return owner_of;
}

double slowest(const std::vector<int>& parts, const std::vector<Share>& shares) {
  double time = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) time = std::max(time, parts[i] / shares[i].speed);
  return time;
}

Decomposition cut_in_parts(const Coord& lattice, int direction, const std::vector<int>& parts, const std::vector<Share>& shares) {
  std::array<std::vector<int>, 4> cuts;
  for (int mu = 0; mu < 4; ++mu) cuts[static_cast<std::size_t>(mu)] = {lattice[static_cast<std::size_t>(mu)]};
  std::vector<int>& along = cuts[static_cast<std::size_t>(direction)];
  along.clear();
  std::vector<int> owners;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == 0) continue;
    along.push_back(parts[i]);
    owners.push_back(shares[i].worker);
  }
  return Decomposition(lattice, cuts, owners);
}

std::vector<int> units_for(int extent, int whole) {
  std::vector<int> units;
  for (const int unit : {4, 2, 1})
    if (extent % unit == 0 && unit % whole == 0) units.push_back(unit);
  if (units.empty()) units.push_back(whole);
  return units;
}

}  // namespace quarkstar::runtime
