#pragma once
#include <span>

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

}  // namespace quarkstar::app
