#include "tests/reference/gauge.hpp"

#include "tests/reference/random.hpp"

#include <algorithm>

namespace quarkstar::reference {
namespace {

HostGauge empty_gauge(const Coord& extents) {
  HostGauge gauge;
  gauge.extents = extents;
  gauge.data.resize(volume(extents) * HostGauge::reals_per_site);
  return gauge;
}

}  // namespace

Matrix<3> link(const HostGauge& gauge, std::int64_t site, int mu) {
  const auto reals = gauge.link(site, mu);
  Matrix<3> u;
  for (int i = 0; i < 9; ++i) u.entries[i] = {reals[2 * i], reals[2 * i + 1]};
  return u;
}

void set_link(HostGauge& gauge, std::int64_t site, int mu, const Matrix<3>& value) {
  const auto reals = gauge.link(site, mu);
  for (int i = 0; i < 9; ++i) {
    reals[2 * i] = value.entries[i].real();
    reals[2 * i + 1] = value.entries[i].imag();
  }
}

HostGauge unit_gauge(const Coord& extents) {
  HostGauge gauge = empty_gauge(extents);
  for (std::int64_t site = 0; site < volume(extents); ++site)
    for (int mu = 0; mu < 4; ++mu) set_link(gauge, site, mu, Matrix<3>::identity());
  return gauge;
}

HostGauge random_gauge(const Coord& extents, std::uint64_t seed) {
  HostGauge gauge = empty_gauge(extents);
  Random random(seed);
  for (std::int64_t site = 0; site < volume(extents); ++site)
    for (int mu = 0; mu < 4; ++mu) set_link(gauge, site, mu, reunitarize(random.normal_matrix()));
  return gauge;
}

HostGauge near_unit_gauge(const Coord& extents, std::uint64_t seed, double roughness) {
  HostGauge gauge = empty_gauge(extents);
  Random random(seed);
  for (std::int64_t site = 0; site < volume(extents); ++site)
    for (int mu = 0; mu < 4; ++mu)
      set_link(gauge, site, mu, reunitarize(Matrix<3>::identity() + Complex{roughness} * random.normal_matrix()));
  return gauge;
}

Matrix<3> reunitarize(const Matrix<3>& u) {
  Matrix<3> v = u;
  const auto normalise_row = [&v](int row) {
    double length2 = 0.0;
    for (int j = 0; j < 3; ++j) length2 += std::norm(v(row, j));
    for (int j = 0; j < 3; ++j) v(row, j) /= std::sqrt(length2);
  };
  normalise_row(0);
  Complex overlap = 0.0;
  for (int j = 0; j < 3; ++j) overlap += std::conj(v(0, j)) * v(1, j);
  for (int j = 0; j < 3; ++j) v(1, j) -= overlap * v(0, j);
  normalise_row(1);
  for (int j = 0; j < 3; ++j) {
    const int k = (j + 1) % 3;
    const int l = (j + 2) % 3;
    v(2, j) = std::conj(v(0, k) * v(1, l) - v(0, l) * v(1, k));
  }
  return v;
}

void reunitarize(HostGauge& gauge) {
  for (std::int64_t site = 0; site < volume(gauge.extents); ++site)
    for (int mu = 0; mu < 4; ++mu) set_link(gauge, site, mu, reunitarize(link(gauge, site, mu)));
}

Plaquettes plaquettes(const HostGauge& gauge) {
  const Coord& extents = gauge.extents;
  const auto u = [&](const Coord& x, int mu) { return link(gauge, lexicographic(x, extents), mu); };
  double spatial = 0.0;
  double temporal = 0.0;
  for (std::int64_t site = 0; site < volume(extents); ++site) {
    const Coord x = coordinates(site, extents);
    for (int mu = 0; mu < 4; ++mu) {
      for (int nu = mu + 1; nu < 4; ++nu) {
        const Matrix<3> plaquette = u(x, mu) * u(step(x, mu, 1, extents), nu) * adjoint(u(step(x, nu, 1, extents), mu)) * adjoint(u(x, nu));
        (nu == 3 ? temporal : spatial) += trace(plaquette).real();
      }
    }
  }
  const double count = 9.0 * static_cast<double>(volume(extents));
  return {spatial / count, temporal / count};
}

double link_trace(const HostGauge& gauge) {
  double sum = 0.0;
  for (std::int64_t site = 0; site < volume(gauge.extents); ++site)
    for (int mu = 0; mu < 4; ++mu) sum += trace(link(gauge, site, mu)).real();
  return sum / (12.0 * static_cast<double>(volume(gauge.extents)));
}

double unitarity_deviation(const HostGauge& gauge) {
  double deviation = 0.0;
  for (std::int64_t site = 0; site < volume(gauge.extents); ++site) {
    for (int mu = 0; mu < 4; ++mu) {
      const Matrix<3> u = link(gauge, site, mu);
      deviation = std::max(deviation, max_difference(u * adjoint(u), Matrix<3>::identity()));
      deviation = std::max(deviation, std::abs(determinant(u) - 1.0));
    }
  }
  return deviation;
}

std::vector<Matrix<3>> random_transform(const Coord& extents, std::uint64_t seed) {
  Random random(seed);
  std::vector<Matrix<3>> g(volume(extents));
  for (Matrix<3>& matrix : g) matrix = reunitarize(random.normal_matrix());
  return g;
}

HostGauge transform(const HostGauge& gauge, const std::vector<Matrix<3>>& g) {
  const Coord& extents = gauge.extents;
  HostGauge transformed = empty_gauge(extents);
  for (std::int64_t site = 0; site < volume(extents); ++site) {
    for (int mu = 0; mu < 4; ++mu) {
      const auto next = lexicographic(step(coordinates(site, extents), mu, 1, extents), extents);
      set_link(transformed, site, mu, g[site] * link(gauge, site, mu) * adjoint(g[next]));
    }
  }
  return transformed;
}

HostGauge tile(const HostGauge& gauge, const Coord& repeats) {
  Coord extents;
  for (int mu = 0; mu < 4; ++mu) extents[mu] = gauge.extents[mu] * repeats[mu];
  HostGauge tiled = empty_gauge(extents);
  for (std::int64_t site = 0; site < volume(extents); ++site) {
    Coord x = coordinates(site, extents);
    for (int mu = 0; mu < 4; ++mu) x[mu] %= gauge.extents[mu];
    for (int mu = 0; mu < 4; ++mu) set_link(tiled, site, mu, link(gauge, lexicographic(x, gauge.extents), mu));
  }
  return tiled;
}

HostGauge cut_out(const HostGauge& gauge, const Box& box) {
  HostGauge part = empty_gauge(box.extents);
  part.origin = box.origin;
  for (std::int64_t i = 0; i < volume(box.extents); ++i) {
    Coord site = coordinates(i, box.extents);
    for (int mu = 0; mu < 4; ++mu) site[mu] = (site[mu] + box.origin[mu]) % gauge.extents[mu];
    for (int mu = 0; mu < 4; ++mu) {
      const auto from = gauge.link(lexicographic(site, gauge.extents), mu);
      std::copy(from.begin(), from.end(), part.link(i, mu).begin());
    }
  }
  return part;
}

HostGauge with_boundary(const HostGauge& gauge, const Boundary& boundary) {
  HostGauge folded = gauge;
  for (std::int64_t site = 0; site < volume(gauge.extents); ++site) {
    const Coord x = coordinates(site, gauge.extents);
    for (int mu = 0; mu < 4; ++mu) set_link(folded, site, mu, boundary.forward(x, mu, gauge.extents) * link(gauge, site, mu));
  }
  return folded;
}

}  // namespace quarkstar::reference
