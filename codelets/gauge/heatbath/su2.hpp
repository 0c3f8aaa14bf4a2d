#pragma once
// SU(2) elements as four reals, and their heatbath distribution: operations that IEEE 754 rounds in one way, for host and GPU alike.
#include "codelets/lattice/random.hpp"

#include <cmath>

namespace quarkstar::heatbath {

/// a0 + i (a1 sigma_1 + a2 sigma_2 + a3 sigma_3), in SU(2) where the squares sum to 1.
struct Su2 {
  double a0, a1, a2, a3;
};

/// a b^+
QUARKSTAR_HD Su2 multiply_adjoint(const Su2& a, const Su2& b) {
  return {a.a0 * b.a0 + a.a1 * b.a1 + a.a2 * b.a2 + a.a3 * b.a3, a.a1 * b.a0 - a.a0 * b.a1 + (a.a2 * b.a3 - a.a3 * b.a2),
          a.a2 * b.a0 - a.a0 * b.a2 + (a.a3 * b.a1 - a.a1 * b.a3), a.a3 * b.a0 - a.a0 * b.a3 + (a.a1 * b.a2 - a.a2 * b.a1)};
}

/// The SU(2) direction of w and its length; the unit element where w vanishes.
struct Polar {
  Su2 direction;
  double length;
};
QUARKSTAR_HD Polar polar(const Su2& w) {
  const double length = sqrt(w.a0 * w.a0 + w.a1 * w.a1 + w.a2 * w.a2 + w.a3 * w.a3);
  if (length == 0.0) return {{1, 0, 0, 0}, 0};
  const double inverse = 1.0 / length;
  return {{w.a0 * inverse, w.a1 * inverse, w.a2 * inverse, w.a3 * inverse}, length};
}

/// 1 - g0 for g0 in [-1, 1] with the density sqrt(1 - g0^2) exp(alpha g0), alpha >= 0.
///
/// alpha >= 0.8: Kennedy and Pendleton, Phys. Lett. B 156 (1985) 393: 1 - g0 = -(log r1 + cos^2(2 pi r2) log r3)/alpha
/// has the density sqrt(1 - g0) exp(alpha g0); accepted with probability sqrt((1 + g0)/2).
///
/// Below, where that accepts less and less: g0 from the Haar measure (the abscissa of a random point of the disc),
/// accepted with probability exp(alpha (g0 - 1)). Both accept more than 0.44 of their tries.
///
/// A try is rejected only where a comparison holds, so that a NaN among the links ends the loop and shows in the result.
QUARKSTAR_HD double sample_one_minus_g0(double alpha, RandomStream& random) {
  constexpr double method_border = 0.8;
  if (alpha < method_border) {
    for (;;) {
      const auto u = random.uniforms();
      const double delta = 1.0 - sqrt(u[0]) * portable::sine_cosine_of_turns(u[1]).cosine;
      if (portable::log(u[2]) > -alpha * delta) continue;
      return delta;
    }
  }
  for (;;) {
    const auto u = random.uniforms();
    const double cosine = portable::sine_cosine_of_turns(u[1]).cosine;
    const double delta = -(portable::log(u[0]) + cosine * cosine * portable::log(u[2])) / alpha;
    if (u[3] * u[3] > 1.0 - 0.5 * delta) continue;
    return delta;
  }
}

/// g in SU(2) with the weight exp(alpha g0) in the Haar measure; <g0> = I_2(alpha)/I_1(alpha).
QUARKSTAR_HD Su2 sample(double alpha, RandomStream& random) {
  const double delta = sample_one_minus_g0(alpha, random);
  const double radius = sqrt(delta * (2.0 - delta));
  const auto u = random.uniforms();
  const double z = 1.0 - 2.0 * u[0];
  const double rho = radius * sqrt(1.0 - z * z);
  const auto [sine, cosine] = portable::sine_cosine_of_turns(u[1]);
  return {1.0 - delta, rho * cosine, rho * sine, radius * z};
}

}  // namespace quarkstar::heatbath
