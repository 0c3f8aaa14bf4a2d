#include "codelets/gauge/observables.hpp"

#include "codelets/lattice/portable.hpp"
#include "codelets/su3/unitarize.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace quarkstar::gauge {
namespace {

using site::Complex, site::Link, site::read_link;

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
  return fmt::format("link U_{} at (x,y,z,t) = ({})", "xyzt"[link % 4], fmt::join(coordinates(link / 4, gauge.extents), ","));
}

void require_usable(const HostGauge& gauge, const runtime::Team& team) {
  const std::int64_t sites = volume(gauge.extents);
  if (*std::min_element(gauge.extents.begin(), gauge.extents.end()) < 1 ||
      gauge.data.size() != static_cast<std::size_t>(sites * HostGauge::reals_per_site))
    throw ShapeError("gauge configuration",
                     fmt::format("{} numbers for a lattice of {} sites ({})", gauge.data.size(), sites, fmt::join(gauge.extents, "x")));
  std::atomic<std::int64_t> bad{none};
  team.for_range(static_cast<std::int64_t>(gauge.data.size()), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i)
      if (!(std::abs(gauge.data[static_cast<std::size_t>(i)]) <= largest_entry)) return keep_smallest(bad, i);
  });
  if (bad == none) return;
  const std::int64_t entry = bad % 18 / 2;
  throw Error(ErrorKind::input, "gauge configuration",
              fmt::format("{}, row {}, column {}: {} is not an entry of a gauge link", name_of_link(gauge, bad / 18), entry / 3, entry % 3,
                          gauge.data[static_cast<std::size_t>(bad)]),
              "the file is damaged or of another format: fetch it again and check its checksum");
}

Link<double> load(const HostGauge& gauge, std::int64_t site, int mu) { return read_link(gauge.link(site, mu).data()); }

/// Re tr of the plaquette of a site in plane (mu, nu), given the neighbours' indices.
double plaquette(const HostGauge& gauge, std::int64_t site, int mu, int nu, const std::array<std::int64_t, 4>& forward) {
  return real_trace_adjoint(multiply(load(gauge, site, mu), load(gauge, forward[mu], nu)),
                            multiply(load(gauge, site, nu), load(gauge, forward[nu], mu)));
}

UnitarityDeviation deviation(const Link<double>& u) {
  const Link<double> product = multiply_adjoint(u, u);
  double largest = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) largest = std::max(largest, portable::modulus(product[i][j].re - (i == j ? 1.0 : 0.0), product[i][j].im));
  Link<double> completed = u;
  reconstruct_row(completed);
  Complex<double> det{};
  for (int j = 0; j < 3; ++j) det = conjugate_multiply_add(completed[2][j], u[2][j], det);
  return {largest, portable::modulus(det.re - 1.0, det.im)};
}

}  // namespace

Plaquettes LinkSums::plaquettes(const Coord& lattice) const {
  const double normalisation = 9.0 * static_cast<double>(volume(lattice));
  return {runtime::value_of(spatial) / normalisation, runtime::value_of(temporal) / normalisation};
}

double LinkSums::link_trace(const Coord& lattice) const { return runtime::value_of(trace) / (12.0 * static_cast<double>(volume(lattice))); }

LinkSums link_sums(const HostGauge& gauge, const Coord& lattice, const Box& part, const runtime::Team& team) {
  require_usable(gauge, team);
  const Box box = gauge.box();
  runtime::ThreadSums sums(team.threads(), 3);
  team.for_range(volume(part.extents), [&](std::int64_t begin, std::int64_t end, int thread) {
    runtime::BinnedSum* sum = sums.of(thread);
    for (std::int64_t i = begin; i < end; ++i) {
      const Coord x = site_of(part, i);
      const std::int64_t site = index_in(box, x, lattice);
      std::array<std::int64_t, 4> forward;
      double trace = 0, plane[2] = {0, 0};  // spatial, temporal
      for (int mu = 0; mu < 4; ++mu) {
        Coord next = x;
        next[mu] = (x[mu] + 1) % lattice[mu];
        forward[static_cast<std::size_t>(mu)] = index_in(box, next, lattice);
        const auto u = gauge.link(site, mu);
        trace += u[0] + u[8] + u[16];
      }
      for (int nu = 1; nu < 4; ++nu)
        for (int mu = 0; mu < nu; ++mu) plane[nu == 3 ? 1 : 0] += plaquette(gauge, site, mu, nu, forward);
      runtime::add(sum[0], plane[0]);
      runtime::add(sum[1], plane[1]);
      runtime::add(sum[2], trace);
    }
  });
  runtime::BinnedSum total[3];
  sums.merge_into(total, 3);
  return {total[0], total[1], total[2]};
}

Plaquettes plaquettes(const HostGauge& gauge, const runtime::Team& team) {
  return link_sums(gauge, gauge.extents, {{}, gauge.extents}, team).plaquettes(gauge.extents);
}

double link_trace(const HostGauge& gauge, const runtime::Team& team) {
  return link_sums(gauge, gauge.extents, {{}, gauge.extents}, team).link_trace(gauge.extents);
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
      Link<double> u = read_link(reals);
      if (!site::reunitarize(u)) return keep_smallest(bad, link);
      write_link(reals, u);
    }
  });
  if (bad == none) return;
  throw Error(ErrorKind::input, "gauge configuration",
              fmt::format("{}: its first two rows are linearly dependent, no SU(3) matrix is near", name_of_link(gauge, bad)),
              "the file is damaged or of another format: fetch it again and check its checksum");
}

}  // namespace quarkstar::gauge
