#include "apps/run/residual_mass.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace quarkstar::app {

void add_residual_mass(RunReport& report) {
  const bool has_all = has_all_columns(report.config) && report.config.masses().size() == 1 && !report.solves.empty() &&
                       std::all_of(report.solves.begin(), report.solves.end(),
                                   [](const ColumnReport& solve) { return solve.result.converged() && !solve.result.midpoint.empty(); });
  if (!has_all) return;
  const std::size_t times = report.solves.front().result.midpoint.size() / 2;
  const auto start = static_cast<std::size_t>(report.config.source.time());
  std::vector<double> midpoint(times, 0), pion(times, 0), ratio(times, 0);
  for (const ColumnReport& solve : report.solves)  // in the order of columns: the last bits depend on it
    for (std::size_t t = 0; t < times; ++t) {
      midpoint[t] += solve.result.midpoint[(t + start) % times];
      pion[t] += solve.result.midpoint[times + (t + start) % times];
    }
  for (std::size_t t = 0; t < times; ++t) ratio[t] = midpoint[t] / pion[t];
  const auto behind_source = [](const std::vector<double>& values) { return std::accumulate(values.begin() + 1, values.end(), 0.0); };
  report.operators.push_back({{}, {{"residual_mass", behind_source(midpoint) / behind_source(pion)}}});
  report.correlators.push_back(correlator_of("pion_midpoint", midpoint));
  report.correlators.push_back(correlator_of("pion_residual_mass", ratio));
}

}  // namespace quarkstar::app
