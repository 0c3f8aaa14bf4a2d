#include "apps/run/free_field.hpp"

#include <cmath>
#include <complex>
#include <numbers>

namespace quarkstar::app {
namespace {

/// a + sum_mu g_mu b_mu as (b_1, .., b_4, a); its squared Frobenius norm is four times the sum of squares, as the
/// gammas and 1 are orthogonal.
using SpinVector = std::array<std::complex<double>, 5>;

SpinVector momentum_propagator(double kappa, const std::array<double, 4>& p) {
  double mass = 1, square = 0;
  std::array<double, 4> s{};
  for (std::size_t mu = 0; mu < 4; ++mu) {
    mass -= 2 * kappa * std::cos(p[mu]);
    s[mu] = 2 * kappa * std::sin(p[mu]);
    square += s[mu] * s[mu];
  }
  const double scale = 1 / (mass * mass + square);
  SpinVector propagator;
  for (std::size_t mu = 0; mu < 4; ++mu) propagator[mu] = {0, -s[mu] * scale};
  propagator[4] = mass * scale;
  return propagator;
}

}  // namespace

std::vector<double> free_pion(const Coord& extents, double kappa, const BoundaryAngles& boundary) {
  const auto momentum = [&](std::size_t mu, int n) { return (2 * n + boundary[mu]) * std::numbers::pi / extents[mu]; };
  const int times = extents[3];
  const Coord space{extents[0], extents[1], extents[2], 1};
  const auto space_sites = static_cast<double>(volume(space));
  std::vector<double> correlator(static_cast<std::size_t>(times));
  for (std::int64_t index = 0; index < volume(space); ++index) {
    const Coord n = coordinates(index, space);
    std::vector<SpinVector> of_time(correlator.size(), SpinVector{});
    for (int n_t = 0; n_t < times; ++n_t) {
      const std::array<double, 4> p{momentum(0, n[0]), momentum(1, n[1]), momentum(2, n[2]), momentum(3, n_t)};
      const SpinVector s = momentum_propagator(kappa, p);
      for (int t = 0; t < times; ++t) {
        const std::complex<double> wave = std::polar(1.0 / times, p[3] * t);
        for (std::size_t k = 0; k < s.size(); ++k) of_time[static_cast<std::size_t>(t)][k] += wave * s[k];
      }
    }
    for (std::size_t t = 0; t < of_time.size(); ++t)
      for (const std::complex<double>& component : of_time[t]) correlator[t] += 12 / space_sites * std::norm(component);
  }
  return correlator;
}

}  // namespace quarkstar::app
