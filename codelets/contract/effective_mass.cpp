#include "codelets/contract/effective_mass.hpp"

#include <cmath>
#include <limits>

namespace quarkstar {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

/// ln of cosh(m from) / cosh(m to), from > to >= 0 up to sign, without overflow for large m.
double log_cosh_ratio(double m, double from, double to) {
  return m * (from - to) + std::log1p(std::exp(-2 * m * from)) - std::log1p(std::exp(-2 * m * to));
}

/// Solves cosh(m far) / cosh(m near) = ratio for m >= 0, far > near >= 0; the left side grows from 1 without bound.
double solve_cosh(double ratio, double far, double near) {
  const double target = std::log(ratio);
  if (!(target >= 0) || !std::isfinite(target)) return undefined;
  double low = 0, high = 1;
  while (log_cosh_ratio(high, far, near) < target) high *= 2;
  while (high - low > 1e-13 * high && high > std::numeric_limits<double>::min()) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (log_cosh_ratio(middle, far, near) < target ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

std::vector<double> log_effective_mass(std::span<const double> correlator) {
  std::vector<double> mass;
  for (std::size_t t = 0; t + 1 < correlator.size(); ++t) {
    const double ratio = correlator[t] / correlator[t + 1];
    mass.push_back(ratio > 0 && std::isfinite(ratio) ? std::log(ratio) : undefined);
  }
  return mass;
}

std::vector<double> cosh_effective_mass(std::span<const double> correlator) {
  const double half = 0.5 * static_cast<double>(correlator.size());
  std::vector<double> mass;
  for (std::size_t t = 0; t + 1 < correlator.size(); ++t) {
    const double here = std::abs(static_cast<double>(t) - half);
    const double next = std::abs(static_cast<double>(t) + 1 - half);
    if (here == next) mass.push_back(undefined);
    else if (here > next) mass.push_back(solve_cosh(correlator[t] / correlator[t + 1], here, next));
    else mass.push_back(solve_cosh(correlator[t + 1] / correlator[t], next, here));
  }
  return mass;
}

}  // namespace quarkstar
