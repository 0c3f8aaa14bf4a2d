#include "apps/run/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
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

/// Probability of -t..t.
double student_probability(double t, int degrees) {
  const double angle = std::atan(t / std::sqrt(degrees)), cosine = std::cos(angle);
  double term = degrees % 2 == 0 ? 1 : cosine, sum = 0;
  for (int k = degrees % 2; k < degrees; k += 2) {
    if (degrees == 1) break;
    sum += term;
    term *= (k + 1.0) / (k + 2.0) * cosine * cosine;
  }
  return degrees % 2 == 0 ? std::sin(angle) * sum : 2 / std::numbers::pi * (angle + std::sin(angle) * sum);
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

double student_t(double probability, int degrees_of_freedom) {
  double low = 0, high = 1;
  while (student_probability(high, degrees_of_freedom) < probability && high < 1e15) high *= 2;
  for (int step = 0; step < 200 && low < high; ++step) {
    const double middle = 0.5 * (low + high);
    (student_probability(middle, degrees_of_freedom) < probability ? low : high) = middle;
  }
  return high;
}

Estimate confidence_interval(std::span<const double> values, double confidence) {
  Estimate estimate = plain_estimate(values);
  if (values.size() >= 2) estimate.error *= student_t(confidence, static_cast<int>(values.size()) - 1);
  return estimate;
}

std::vector<Estimate> jackknife(const std::vector<std::vector<double>>& samples,
                                const std::function<std::vector<double>(std::span<const double>)>& f, int bin) {
  if (samples.empty()) return {};
  const std::size_t count = samples.size(), length = samples.front().size(), bins = count / static_cast<std::size_t>(bin);
  const auto add = [length](std::vector<double>& sum, const std::vector<double>& sample) {
    for (std::size_t i = 0; i < length; ++i) sum[i] += sample[i];
  };
  std::vector<double> all(length, 0.0);
  for (const std::vector<double>& sample : samples) add(all, sample);
  const auto of_mean = [&](const std::vector<double>& left_out, std::size_t left) {
    std::vector<double> mean(length);
    for (std::size_t i = 0; i < length; ++i) mean[i] = (all[i] - left_out[i]) / static_cast<double>(left);
    return f(mean);
  };
  std::vector<Estimate> estimates;
  for (const double value : of_mean(std::vector<double>(length, 0.0), count))
    estimates.push_back({value, std::numeric_limits<double>::quiet_NaN()});
  if (bins < 2) return estimates;
  std::vector<std::vector<double>> thetas;
  for (std::size_t b = 0; b < bins; ++b) {
    const std::size_t begin = b * count / bins, end = (b + 1) * count / bins;
    std::vector<double> sum(length, 0.0);
    for (std::size_t s = begin; s < end; ++s) add(sum, samples[s]);
    thetas.push_back(of_mean(sum, count - (end - begin)));
  }
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    double mean = 0, squares = 0;
    for (const std::vector<double>& theta : thetas) mean += theta[i] / static_cast<double>(bins);
    for (const std::vector<double>& theta : thetas) squares += (theta[i] - mean) * (theta[i] - mean);
    estimates[i].error = std::sqrt(static_cast<double>(bins - 1) / static_cast<double>(bins) * squares);
  }
  return estimates;
}

}  // namespace quarkstar::app
