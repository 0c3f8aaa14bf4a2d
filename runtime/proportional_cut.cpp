#include "runtime/proportional_cut.hpp"

#include <algorithm>

namespace quarkstar::runtime {

std::vector<int> proportional_parts(int extent, const std::vector<Share>& shares, int unit) {
  std::vector<int> parts(shares.size(), 0);
  // One unit after the other to whom it delays least: for parts that all take time in proportion to their thickness that is optimal.
  for (int given = 0; given < extent; given += unit) {
    int best = -1;
    double least = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double time = (parts[i] + unit) / shares[i].speed;
      if (parts[i] + unit > shares[i].most || !(shares[i].speed > 0)) continue;
      if (best < 0 || time < least) best = static_cast<int>(i), least = time;
    }
    if (best < 0) return {};
    parts[static_cast<std::size_t>(best)] += unit;
  }
  return parts;
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

std::vector<int> units_for(int extent) {
  std::vector<int> units;
  for (const int unit : {4, 2, 1})
    if (extent % unit == 0) units.push_back(unit);
  return units;
}

}  // namespace quarkstar::runtime
