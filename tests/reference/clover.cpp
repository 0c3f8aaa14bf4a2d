#include "tests/reference/clover.hpp"

#include "tests/reference/gauge.hpp"
#include "tests/reference/wilson.hpp"

namespace quarkstar::reference {

Matrix<3> field_strength(const HostGauge& gauge, const Coord& x, int mu, int nu) {
  const Coord& extents = gauge.extents;
  // Transporter out of the site y along +-direction; y moves on.
  const auto walk = [&](Coord& y, int direction, int sign) {
    if (sign > 0) {
      const Matrix<3> u = link(gauge, lexicographic(y, extents), direction);
      y = step(y, direction, +1, extents);
      return u;
    }
    y = step(y, direction, -1, extents);
    return adjoint(link(gauge, lexicographic(y, extents), direction));
  };
  // Closed loop at x: +-a, +-b and back.
  const auto leaf = [&](int a, int sign_a, int b, int sign_b) {
    Coord y = x;
    const Matrix<3> out_a = walk(y, a, sign_a);
    const Matrix<3> out_b = walk(y, b, sign_b);
    const Matrix<3> back_a = walk(y, a, -sign_a);
    const Matrix<3> back_b = walk(y, b, -sign_b);
    return out_a * out_b * back_a * back_b;
  };
  const Matrix<3> q = leaf(mu, +1, nu, +1) + leaf(nu, +1, mu, -1) + leaf(mu, -1, nu, -1) + leaf(nu, -1, mu, +1);
  return -imaginary_unit / 8.0 * (q - adjoint(q));
}

SiteMatrices clover_term(const HostGauge& gauge, double kappa, double c_space, double c_time, Basis basis) {
  SiteMatrices a = unit_term(gauge.extents);
  for (std::int64_t site = 0; site < volume(gauge.extents); ++site)
    for (int mu = 0; mu < 4; ++mu)
      for (int nu = mu + 1; nu < 4; ++nu)
        a[site] = a[site] - Complex{kappa * (nu == 3 ? c_time : c_space)} *
                                spin_times_colour(sigma(basis, mu, nu), field_strength(gauge, coordinates(site, gauge.extents), mu, nu));
  return a;
}

SiteMatrices clover_term(const HostGauge& gauge, double kappa, double c_sw, Basis basis) {
  return clover_term(gauge, kappa, c_sw, c_sw, basis);
}

SiteMatrices unit_term(const Coord& extents) { return SiteMatrices(volume(extents), Matrix<12>::identity()); }

Field apply_sites(const SiteMatrices& a, const Field& psi) {
  Field result(psi.extents, 4);
  for (std::int64_t site = 0; site < psi.sites(); ++site)
    for (int j = 0; j < 12; ++j) {
      const Complex z = psi(site, j / 3, j % 3);
      if (z == Complex{0}) continue;  // all of a parity
      for (int i = 0; i < 12; ++i)
        if (a[site](i, j) != Complex{0}) result(site, i / 3, i % 3) += a[site](i, j) * z;
    }
  return result;
}

SiteMatrices inverse(const SiteMatrices& a) {
  SiteMatrices inverted;
  for (const Matrix<12>& matrix : a) inverted.push_back(inverse(matrix));
  return inverted;
}

double trace_log(const SiteMatrices& a, const Coord& extents, int parity_summed) {
  double sum = 0.0;
  for (std::int64_t site = 0; site < volume(extents); ++site)
    if (parity(coordinates(site, extents)) == parity_summed) sum += std::log(determinant(a[site]).real());
  return sum;
}

Field clover_wilson(const HostGauge& gauge, const SiteMatrices& a, double kappa, const Field& psi, const Boundary& boundary, Basis basis) {
  return apply_sites(a, psi) - kappa * hop(gauge, psi, boundary, basis);
}

Field clover_wilson_dagger(const HostGauge& gauge, const SiteMatrices& a, double kappa, const Field& psi, const Boundary& boundary,
                           Basis basis) {
  return apply_sites(a, psi) - kappa * hop_dagger(gauge, psi, boundary, basis);
}

}  // namespace quarkstar::reference
