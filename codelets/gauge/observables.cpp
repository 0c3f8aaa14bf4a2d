#include "codelets/gauge/observables.hpp"

#include "codelets/gauge/matrix3.hpp"
#include "runtime/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace quarkstar::gauge {
namespace {

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

/// A product of four entries of this size still fits into a double.
constexpr double largest_entry = 1e50;

/// Combines per_site(sum, site) over all sites: within planes of fixed (z, t), then plane after plane.
template <class Sum, class PerSite, class Combine>
Sum reduce(const Coord& extents, const runtime::Team& team, PerSite&& per_site, Combine&& combine) {
  const std::int64_t sites = std::int64_t{extents[0]} * extents[1];
  std::vector<Sum> planes(static_cast<std::size_t>(extents[2]) * static_cast<std::size_t>(extents[3]));
  team.for_range(static_cast<std::int64_t>(planes.size()), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      Sum sum{};
      for (std::int64_t site = plane * sites; site < (plane + 1) * sites; ++site) per_site(sum, site);
      planes[static_cast<std::size_t>(plane)] = sum;
    }
  });
  Sum total{};
  for (const Sum& plane : planes) combine(total, plane);
  return total;
}

void keep_smallest(std::atomic<std::int64_t>& smallest, std::int64_t value) {
  std::int64_t seen = smallest.load();
  while (value < seen && !smallest.compare_exchange_weak(seen, value)) {
  }
}

std::string name_of_link(const HostGauge& gauge, std::int64_t link) {
  return fmt::format("link U_{} at (x,y,z,t) = ({})", "xyzt"[link % 4],
                     fmt::join(coordinates(link / 4, gauge.extents), ","));
}

void require_usable(const HostGauge& gauge, const runtime::Team& team) {
  const std::int64_t sites = volume(gauge.extents);
  if (*std::min_element(gauge.extents.begin(), gauge.extents.end()) < 1 ||
      gauge.data.size() != static_cast<std::size_t>(sites * HostGauge::reals_per_site))
    throw ShapeError("gauge configuration", fmt::format("{} numbers for a lattice of {} sites ({})", gauge.data.size(),
                                                        sites, fmt::join(gauge.extents, "x")));
  std::atomic<std::int64_t> bad{none};
  team.for_range(static_cast<std::int64_t>(gauge.data.size()), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i)
      if (!(std::abs(gauge.data[static_cast<std::size_t>(i)]) <= largest_entry)) return keep_smallest(bad, i);
  });
  if (bad == none) return;
  const std::int64_t entry = bad % 18 / 2;
  throw Error(ErrorKind::input, "gauge configuration",
              fmt::format("{}, row {}, column {}: {} is not an entry of a gauge link", name_of_link(gauge, bad / 18),
                          entry / 3, entry % 3, gauge.data[static_cast<std::size_t>(bad)]),
              "the file is damaged or of another format: fetch it again and check its checksum");
}

Matrix3 load(const HostGauge& gauge, std::int64_t site, int mu) { return Matrix3::load(gauge.link(site, mu).data()); }

/// Re tr of the plaquette of a site in plane (mu, nu), given the neighbours' indices.
double plaquette(const HostGauge& gauge, std::int64_t site, int mu, int nu,
                 const std::array<std::int64_t, 4>& forward) {
  const Matrix3 lower = multiply(load(gauge, site, mu), load(gauge, forward[mu], nu));
  const Matrix3 upper = multiply(load(gauge, site, nu), load(gauge, forward[nu], mu));
  return real_trace_adjoint(lower, upper);
}

std::array<std::int64_t, 4> forward_neighbours(const Coord& extents, std::int64_t site) {
  const Coord x = coordinates(site, extents);
  std::array<std::int64_t, 4> forward;
  std::int64_t stride = 1;
  for (int mu = 0; mu < 4; ++mu) {
    forward[mu] = site + (x[mu] + 1 < extents[mu] ? stride : stride * (1 - extents[mu]));
    stride *= extents[mu];
  }
  return forward;
}

Complex determinant(const Matrix3& u) {
  Complex cofactors[3];
  conjugate_cross(u.e[0], u.e[1], cofactors);
  Complex sum{};
  for (int j = 0; j < 3; ++j) sum += multiply(conj(cofactors[j]), u.e[2][j]);
  return sum;
}

UnitarityDeviation deviation(const Matrix3& u) {
  const Matrix3 product = multiply_adjoint(u, u);
  double largest = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      largest = std::max(largest, std::hypot(product.e[i][j][0] - (i == j ? 1.0 : 0.0), product.e[i][j][1]));
  const Complex det = determinant(u);
  return {largest, std::hypot(det[0] - 1.0, det[1])};
}

}  // namespace

Plaquettes plaquettes(const HostGauge& gauge, const runtime::Team& team) {
  require_usable(gauge, team);
  const auto add_site = [&gauge](Plaquettes& sum, std::int64_t site) {
    const auto forward = forward_neighbours(gauge.extents, site);
    for (int nu = 1; nu < 4; ++nu)
      for (int mu = 0; mu < nu; ++mu) (nu == 3 ? sum.temporal : sum.spatial) += plaquette(gauge, site, mu, nu, forward);
  };
  const auto add_plane = [](Plaquettes& total, const Plaquettes& sum) {
    total.spatial += sum.spatial;
    total.temporal += sum.temporal;
  };
  const auto total = reduce<Plaquettes>(gauge.extents, team, add_site, add_plane);
  const double normalisation = 9.0 * static_cast<double>(volume(gauge.extents));
  return {total.spatial / normalisation, total.temporal / normalisation};
}

double link_trace(const HostGauge& gauge, const runtime::Team& team) {
  require_usable(gauge, team);
  const auto add_site = [&gauge](double& sum, std::int64_t site) {
    for (int mu = 0; mu < 4; ++mu) {
      const auto u = gauge.link(site, mu);
      sum += u[0] + u[8] + u[16];
    }
  };
  const auto add_plane = [](double& total, double sum) { total += sum; };
  return reduce<double>(gauge.extents, team, add_site, add_plane) / (12.0 * static_cast<double>(volume(gauge.extents)));
}

UnitarityDeviation unitarity_deviation(const HostGauge& gauge, const runtime::Team& team) {
  require_usable(gauge, team);
  const auto keep_larger = [](UnitarityDeviation& largest, const UnitarityDeviation& here) {
    largest.unitarity = std::max(largest.unitarity, here.unitarity);
    largest.determinant = std::max(largest.determinant, here.determinant);
  };
  const auto at_site = [&](UnitarityDeviation& largest, std::int64_t site) {
    for (int mu = 0; mu < 4; ++mu) keep_larger(largest, deviation(load(gauge, site, mu)));
  };
  return reduce<UnitarityDeviation>(gauge.extents, team, at_site, keep_larger);
}

void reunitarize(HostGauge& gauge, const runtime::Team& team) {
  require_usable(gauge, team);
  std::atomic<std::int64_t> bad{none};
  team.for_range(volume(gauge.extents) * 4, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t link = begin; link < end; ++link) {
      double* reals = gauge.data.data() + link * 18;
      Matrix3 u = Matrix3::load(reals);
      if (!reunitarize(u)) return keep_smallest(bad, link);
      u.store(reals);
    }
  });
  if (bad == none) return;
  throw Error(
      ErrorKind::input, "gauge configuration",
      fmt::format("{}: its first two rows are linearly dependent, no SU(3) matrix is near", name_of_link(gauge, bad)),
      "the file is damaged or of another format: fetch it again and check its checksum");
}

}  // namespace quarkstar::gauge
