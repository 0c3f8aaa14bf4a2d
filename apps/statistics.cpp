#include "apps/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace quarkstar::app {
namespace {

constexpr std::size_t fewest_bins = 8;

Estimate plain_estimate(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() < 2) return {mean, std::numeric_limits<double>::quiet_NaN()};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (count * (count - 1)))};
}

}  // namespace

Estimate binned_estimate(std::span<const double> values) {
  Estimate estimate = plain_estimate(values);
  std::vector<double> bins(values.begin(), values.end());
  while (bins.size() >= 2 * fewest_bins) {
    for (std::size_t i = 0; i < bins.size() / 2; ++i) bins[i] = 0.5 * (bins[2 * i] + bins[2 * i + 1]);
    bins.resize(bins.size() / 2);
    estimate.error = std::max(estimate.error, plain_estimate(bins).error);
  }
  return estimate;
}

}  // namespace quarkstar::app
