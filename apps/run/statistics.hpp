#pragma once
#include <functional>
#include <span>
#include <vector>

namespace quarkstar::app {

struct Estimate {
  double mean = 0, error = 0;
};

/// Mean of a correlated sequence with its standard error: values are averaged in bins of 1, 2, 4, ... while at least
/// eight bins remain, and the largest of the errors counts, as neighbouring values are alike. error is not a number for
/// less than two values.
Estimate binned_estimate(std::span<const double> values);

/// The t for which a value of Student's distribution lies between -t and t with that probability, 0 < p < 1. Source: Abramowitz and
/// Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
double student_t(double probability, int degrees_of_freedom);

/// Mean of independent values with half the width of its confidence interval, t s / sqrt(n); the width is not a number for less than two
/// values.
Estimate confidence_interval(std::span<const double> values, double confidence = 0.95);

/// theta = f(mean of the samples), component by component, and its jackknife error
///   sqrt[(B - 1) / B sum_b (theta_b - mean theta_b)^2],  theta_b = f(mean without bin b),
/// of B = floor(samples / bin) bins of neighbours, as equal as they can be: bins longer than the samples' correlation make the error that
/// of independent ones. samples: all of one length. The error is not a number for less than two bins, and where some theta_b is not. Cost:
/// B + 1 calls of f. Source: B. Efron, The Jackknife, the Bootstrap and Other Resampling Plans (1982), ch. 3.
std::vector<Estimate> jackknife(const std::vector<std::vector<double>>& samples,
                                const std::function<std::vector<double>(std::span<const double>)>& f, int bin = 1);

}  // namespace quarkstar::app
