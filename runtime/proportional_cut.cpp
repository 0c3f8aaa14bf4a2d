#include "runtime/proportional_cut.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace quarkstar::runtime {

namespace {

/// Gives `rest`, too thin for a part of its own, to an owner without a part, together with layers of another one. False where that cannot be.
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
