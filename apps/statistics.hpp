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

}  // namespace quarkstar::app
