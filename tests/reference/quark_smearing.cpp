#include "tests/reference/quark_smearing.hpp"

#include "tests/reference/gauge.hpp"

#include <cmath>

namespace quarkstar::reference {
namespace {

std::int64_t neighbour(std::int64_t site, int mu, int steps, const Coord& extents) {
  Coord x = coordinates(site, extents);
  x[mu] = (x[mu] + steps + extents[mu]) % extents[mu];
  return lexicographic(x, extents);
}

/// The traceless antihermitian part.
Matrix<3> antihermitian(const Matrix<3>& w) {
  Matrix<3> a = Complex{0.5} * (w - adjoint(w));
  const Complex third = trace(a) / 3.0;
  for (int i = 0; i < 3; ++i) a(i, i) -= third;
  return a;
}

Matrix<3> exponential(const Matrix<3>& a) {
  Matrix<3> sum = Matrix<3>::identity(), term = sum;
  for (int n = 1; n <= 20; ++n) {
    term = Complex{1.0 / n} * (term * a);
    sum = sum + term;
  }
  return sum;
}

Matrix<3> with_largest_trace(const Matrix<3>& x, Matrix<3> v) {
  for (int step = 0; step < 1000; ++step) {
    const Matrix<3> a = antihermitian(v * adjoint(x));
    v = exponential(Complex{-0.5} * a) * v;
    if (norm2(a) < 1e-29) break;
  }
  return reunitarize(v);
}

}  // namespace

Field smeared(const HostGauge& gauge, const Field& psi, double weight, int steps) {
  Field now = psi;
  for (int step = 0; step < steps; ++step) {
    Field next = Complex{1 - 6 * weight} * now;
    for (std::int64_t site = 0; site < now.sites(); ++site)
      for (int mu = 0; mu < 3; ++mu) {
        const std::int64_t ahead = neighbour(site, mu, 1, psi.extents), behind = neighbour(site, mu, -1, psi.extents);
        for (int spin = 0; spin < psi.spins; ++spin) {
          const Vector<3> forward = link(gauge, site, mu) * now.colour_vector(ahead, spin),
                          backward = adjoint(link(gauge, behind, mu)) * now.colour_vector(behind, spin);
          for (int c = 0; c < 3; ++c)
            next(site, spin, c) += weight * (forward[static_cast<std::size_t>(c)] + backward[static_cast<std::size_t>(c)]);
        }
      }
    now = next;
  }
  return now;
}

HostGauge ape_smeared(HostGauge gauge, double alpha, int steps) {
  for (int step = 0; step < steps; ++step) {
    const HostGauge u = gauge;
    for (std::int64_t x = 0; x < volume(u.extents); ++x)
      for (int mu = 0; mu < 3; ++mu) {
        Matrix<3> staples;
        for (int nu = 0; nu < 3; ++nu) {
          if (nu == mu) continue;
          const std::int64_t up = neighbour(x, nu, 1, u.extents), down = neighbour(x, nu, -1, u.extents),
                             ahead = neighbour(x, mu, 1, u.extents);
          staples = staples + link(u, x, nu) * link(u, up, mu) * adjoint(link(u, ahead, nu)) +
                    adjoint(link(u, down, nu)) * link(u, down, mu) * link(u, neighbour(down, mu, 1, u.extents), nu);
        }
        const Matrix<3> sum = Complex{1 - alpha} * link(u, x, mu) + Complex{alpha / 4} * staples;
        set_link(gauge, x, mu, with_largest_trace(sum, link(u, x, mu)));
      }
  }
  return gauge;
}

}  // namespace quarkstar::reference
