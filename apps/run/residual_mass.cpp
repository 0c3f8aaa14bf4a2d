#include "apps/run/residual_mass.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace quarkstar::app {

ResidualMass residual_mass_of(std::span<const std::vector<double>> midpoints, int time) {
  const std::size_t times = midpoints.front().size() / 2;
  const auto start = static_cast<std::size_t>(time);
  ResidualMass result{std::vector<double>(times, 0), std::vector<double>(times, 0), 0};
  std::vector<double> pion(times, 0);
  for (const std::vector<double>& of_column : midpoints)  // in the order of columns: the last bits depend on it
    for (std::size_t t = 0; t < times; ++t) {
      result.midpoint[t] += of_column[(t + start) % times];
      pion[t] += of_column[times + (t + start) % times];
    }
  for (std::size_t t = 0; t < times; ++t) result.ratio[t] = result.midpoint[t] / pion[t];
  const auto behind_source = [](const std::vector<double>& values) { return std::accumulate(values.begin() + 1, values.end(), 0.0); };
  result.mass = behind_source(result.midpoint) / behind_source(pion);
  return result;
}

void add_residual_mass(RunReport& report) {
  const bool has_all = has_all_columns(report.config) && report.config.masses().size() == 1 && !report.solves.empty() &&
                       std::all_of(report.solves.begin(), report.solves.end(),
                                   [](const ColumnReport& solve) { return solve.result.converged() && !solve.result.midpoint.empty(); });
  if (!has_all) return;
  std::vector<std::vector<double>> midpoints;
  for (const ColumnReport& solve : report.solves) midpoints.push_back(solve.result.midpoint);
  const ResidualMass residual = residual_mass_of(midpoints, report.config.source.time());
  report.operators.push_back({{}, {{"residual_mass", residual.mass}}});
  report.correlators.push_back(correlator_of("pion_midpoint", residual.midpoint));
  report.correlators.push_back(correlator_of("pion_residual_mass", residual.ratio));
}

}  // namespace quarkstar::app
