#include "tests/reference/free_field.hpp"

#include <algorithm>
#include <numbers>

namespace quarkstar::reference {

Momentum momentum(const Coord& n, const Coord& extents, const Boundary& boundary) {
  Momentum p;
  for (int mu = 0; mu < 4; ++mu) p[mu] = (2.0 * std::numbers::pi * n[mu] + std::arg(boundary.phase[mu])) / extents[mu];
  return p;
}

Matrix<4> wilson_symbol(double kappa, const Momentum& p, Basis basis) {
  Matrix<4> symbol = Matrix<4>::identity();
  for (int mu = 0; mu < 4; ++mu)
    symbol = symbol - Complex{2.0 * kappa * std::cos(p[mu])} * Matrix<4>::identity() +
             2.0 * kappa * std::sin(p[mu]) * imaginary_unit * gamma(basis, mu);
  return symbol;
}

Matrix<4> wilson_free_propagator(double kappa, const Momentum& p, Basis basis) {
  double mass = 1.0;
  double s2 = 0.0;
  Matrix<4> gamma_s;
  for (int mu = 0; mu < 4; ++mu) {
    const double s = 2.0 * kappa * std::sin(p[mu]);
    mass -= 2.0 * kappa * std::cos(p[mu]);
    s2 += s * s;
    gamma_s = gamma_s + Complex{s} * gamma(basis, mu);
  }
  return Complex{1.0 / (mass * mass + s2)} * (Complex{mass} * Matrix<4>::identity() - imaginary_unit * gamma_s);
}

std::vector<double> wilson_free_pion(const Coord& extents, double kappa, const Boundary& boundary) {
  const Coord space{extents[0], extents[1], extents[2], 1};
  const int time_extent = extents[3];
  std::vector<double> correlator(time_extent);
  for (std::int64_t i = 0; i < volume(space); ++i) {
    Coord n = coordinates(i, space);
    for (int t = 0; t < time_extent; ++t) {
      Matrix<4> s;
      for (n[3] = 0; n[3] < time_extent; ++n[3]) {
        const Momentum p = momentum(n, extents, boundary);
        s = s + std::polar(1.0 / time_extent, p[3] * t) * wilson_free_propagator(kappa, p);
      }
      correlator[t] += 3.0 / static_cast<double>(volume(space)) * norm2(s);
    }
  }
  return correlator;
}

std::vector<double> staggered_free_spectrum(const Coord& extents, double c1, double c3, const Boundary& boundary) {
  std::vector<double> spectrum;
  for (std::int64_t i = 0; i < volume(extents); ++i) {
    const Momentum p = momentum(coordinates(i, extents), extents, boundary);
    double eigenvalue = 0.0;
    for (int mu = 0; mu < 4; ++mu) {
      const double root = 2.0 * (c1 * std::sin(p[mu]) + c3 * std::sin(3.0 * p[mu]));
      eigenvalue += root * root;
    }
    spectrum.insert(spectrum.end(), 3, eigenvalue);
  }
  std::sort(spectrum.begin(), spectrum.end());
  return spectrum;
}

}  // namespace quarkstar::reference
