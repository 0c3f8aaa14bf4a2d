#include "apps/run/staggered_batches.hpp"

#include "codelets/field/field.hpp"

namespace quarkstar::app {

std::vector<std::vector<StaggeredTask>> staggered_batches(const RunConfig& config) {
  std::vector<std::vector<StaggeredTask>> result;
  const std::size_t masses = config.staggered.masses.size(), most = static_cast<std::size_t>(config.nrhs),
                    sources = 1 + config.further_sources.size();
  if (config.solver.solver == "multishift") {
    constexpr std::size_t most_together = most_vectors;
    for (std::size_t s = 0; s < sources; ++s)
      for (const int column : config.columns)
        for (std::size_t m = 0; m < masses; ++m) {
          if (m % most_together == 0) result.emplace_back();
          result.back().push_back({s, column, m});
        }
    return result;
  }
  for (std::size_t m = 0; m < masses; ++m)
    for (std::size_t s = 0; s < sources; ++s)
      for (const int column : config.columns) {
        const bool other_mass = !result.empty() && result.back().back().mass != m && config.solver.solver == "blockcg";
        if (result.empty() || result.back().size() == most || other_mass) result.emplace_back();
        result.back().push_back({s, column, m});
      }
  return result;
}

std::vector<std::vector<int>> column_groups(const RunConfig& config) {
  std::vector<std::vector<int>> groups;
  for (const int column : config.columns) {
    if (groups.empty() || groups.back().size() == static_cast<std::size_t>(config.nrhs)) groups.emplace_back();
    groups.back().push_back(column);
  }
  return groups;
}

std::vector<int> numbers_together(const RunConfig& config) {
  if (!config.is_staggered()) {
    std::vector<int> numbers;
    for (const auto& group : column_groups(config)) numbers.push_back(static_cast<int>(group.size()));
    return numbers;
  }
  RunConfig of_operator = config;
  if (!config.staggered.naik_epsilon) of_operator.staggered.masses.resize(1);
  std::vector<int> numbers;
  for (const auto& batch : staggered_batches(of_operator)) numbers.push_back(static_cast<int>(batch.size()));
  return numbers;
}

}  // namespace quarkstar::app
