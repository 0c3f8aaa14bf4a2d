#include "runtime/system/error.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/staggered.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace quarkstar::reference {
namespace {

/// One step of a path: +mu or -mu.
struct Step {
  int mu;
  int sign;
};
Step operator-(Step s) { return {s.mu, -s.sign}; }

/// Product of the links along a path that starts at x.
Matrix<3> path(const HostGauge& gauge, Coord x, std::initializer_list<Step> steps) {
  Matrix<3> product = Matrix<3>::identity();
  for (const Step& s : steps) {
    if (s.sign > 0) {
      product = product * link(gauge, lexicographic(x, gauge.extents), s.mu);
      x = step(x, s.mu, +1, gauge.extents);
    } else {
      x = step(x, s.mu, -1, gauge.extents);
      product = product * adjoint(link(gauge, lexicographic(x, gauge.extents), s.mu));
    }
  }
  return product;
}

/// Directions orthogonal to all of `used`, both signs.
std::vector<Step> orthogonal(std::initializer_list<int> used) {
  std::vector<Step> steps;
  for (int nu = 0; nu < 4; ++nu)
    if (std::find(used.begin(), used.end(), nu) == used.end())
      for (const int sign : {+1, -1}) steps.push_back({nu, sign});
  return steps;
}

Matrix<3> smeared_link(const HostGauge& gauge, const Coord& x, int mu, const SmearingCoefficients& weight) {
  const Step m{mu, +1};
  Matrix<3> three, five, seven, lepage;
  for (const Step a : orthogonal({mu})) {
    three = three + path(gauge, x, {a, m, -a});
    lepage = lepage + path(gauge, x, {a, a, m, -a, -a});
    for (const Step b : orthogonal({mu, a.mu})) {
      five = five + path(gauge, x, {a, b, m, -b, -a});
      for (const Step c : orthogonal({mu, a.mu, b.mu})) seven = seven + path(gauge, x, {a, b, c, m, -c, -b, -a});
    }
  }
  return Complex{weight.one_link} * path(gauge, x, {m}) + Complex{weight.three_staple} * three + Complex{weight.five_staple} * five +
         Complex{weight.seven_staple} * seven + Complex{weight.lepage} * lepage;
}

/// Unitary factor of the polar decomposition by Newton's iteration V -> (V + V^{+ -1}) / 2, which converges
/// quadratically for every invertible V.
Matrix<3> unitarize(Matrix<3> v) {
  constexpr int iteration_limit = 100;
  for (int iteration = 0; iteration < iteration_limit; ++iteration) {
    const Matrix<3> next = Complex{0.5} * (v + inverse(adjoint(v)));
    const double change = max_difference(next, v);
    v = next;
    if (change < 1e-15) return v;
    // Rounding may keep the last digit moving; unitarity decides then.
    if (change < 1e-13 && max_difference(v * adjoint(v), Matrix<3>::identity()) < 1e-14) return v;
  }
  throw Error(ErrorKind::numerical, "reference::unitarize", "a smeared link is singular", "use a smoother configuration");
}

}  // namespace

SmearingCoefficients fat7_coefficients() { return {1.0 / 8.0, 1.0 / 16.0, 1.0 / 64.0, 1.0 / 384.0, 0.0}; }

SmearingCoefficients hisq_level2_coefficients(double epsilon) {
  return {1.0 + epsilon / 8.0, 1.0 / 16.0, 1.0 / 64.0, 1.0 / 384.0, -1.0 / 8.0};
}

SmearingCoefficients asqtad_coefficients(double u0) {
  const double u2 = u0 * u0;
  return {5.0 / 8.0, 1.0 / (16.0 * u2), 1.0 / (64.0 * u2 * u2), 1.0 / (384.0 * u2 * u2 * u2), -1.0 / (16.0 * u2 * u2)};
}

HostGauge smear(const HostGauge& gauge, const SmearingCoefficients& coefficients) {
  HostGauge smeared = gauge;
  for (std::int64_t site = 0; site < volume(gauge.extents); ++site)
    for (int mu = 0; mu < 4; ++mu) set_link(smeared, site, mu, smeared_link(gauge, coordinates(site, gauge.extents), mu, coefficients));
  return smeared;
}

HostGauge unitarize(const HostGauge& gauge) {
  HostGauge unitary = gauge;
  for (std::int64_t site = 0; site < volume(gauge.extents); ++site)
    for (int mu = 0; mu < 4; ++mu) set_link(unitary, site, mu, unitarize(link(gauge, site, mu)));
  return unitary;
}

HostGauge naik_links(const HostGauge& gauge, double coefficient) {
  HostGauge naik = gauge;
  for (std::int64_t site = 0; site < volume(gauge.extents); ++site) {
    for (int mu = 0; mu < 4; ++mu) {
      const Step m{mu, +1};
      set_link(naik, site, mu, Complex{coefficient} * path(gauge, coordinates(site, gauge.extents), {m, m, m}));
    }
  }
  return naik;
}

StaggeredLinks naive_links(const HostGauge& gauge) { return {gauge, naik_links(gauge, 0.0)}; }

StaggeredLinks asqtad_links(const HostGauge& gauge, double u0) {
  return {smear(gauge, asqtad_coefficients(u0)), naik_links(gauge, -1.0 / (24.0 * u0 * u0))};
}

StaggeredLinks hisq_links(const HostGauge& gauge, double epsilon) {
  const HostGauge w = unitarize(smear(gauge, fat7_coefficients()));
  return {smear(w, hisq_level2_coefficients(epsilon)), naik_links(w, -(1.0 + epsilon) / 24.0)};
}

double hisq_epsilon(double mass) {
  const double a2 = mass * mass;
  return -27.0 / 40.0 * a2 + 327.0 / 1120.0 * a2 * a2 - 15607.0 / 268800.0 * a2 * a2 * a2 - 73697.0 / 3942400.0 * a2 * a2 * a2 * a2;
}

}  // namespace quarkstar::reference
