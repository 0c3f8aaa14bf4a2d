#include "codelets/smear/links_signs.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "codelets/gauge/matrix3.hpp"

namespace quarkstar::smear {
namespace {

using gauge::Matrix3;

constexpr std::size_t plaquettes_a_site = 6;

double cosine(const Matrix3& a, const Matrix3& b) {
  const double norms = gauge::real_trace_adjoint(a, a) * gauge::real_trace_adjoint(b, b);
  return norms > 0 ? gauge::real_trace_adjoint(a, b) / std::sqrt(norms) : 0;
}

Coord shifted(Coord site, int mu, int by, const Coord& extents) {
  site[mu] = (site[mu] + by) % extents[mu];
  return site;
}

}  // namespace

LinksSigns signs_of(const StaggeredLinks& links, const runtime::Team& team) {
  const Coord& extents = links.fat.extents;
  const auto link = [&](const HostGauge& field, const Coord& site, int mu) {
    return Matrix3::load(field.link(lexicographic(site, extents), mu).data());
  };
  const auto fat = [&](const Coord& site, int mu) { return link(links.fat, site, mu); };
  const int reach = links.reach();
  std::vector<LinksSigns> sums(static_cast<std::size_t>(team.threads()));
  team.for_range(volume(extents), [&](std::int64_t begin, std::int64_t end, int thread) {
    LinksSigns sum;
    for (std::int64_t index = begin; index < end; ++index) {
      const Coord site = coordinates(index, extents);
      for (int mu = 0; mu < 4; ++mu) {
        for (int nu = mu + 1; nu < 4; ++nu)
          sum.plaquette += cosine(gauge::multiply(fat(site, mu), fat(shifted(site, mu, 1, extents), nu)),
                                  gauge::multiply(fat(site, nu), fat(shifted(site, nu, 1, extents), mu)));
        const Matrix3 two = gauge::multiply(fat(site, mu), fat(shifted(site, mu, 1, extents), mu));
        const double along = cosine(link(links.long_links, site, mu), gauge::multiply(two, fat(shifted(site, mu, 2, extents), mu)));
        sum.line += along;
        if (site[mu] + reach >= extents[mu]) sum.edge[static_cast<std::size_t>(mu)] += along;
      }
    }
    sums[static_cast<std::size_t>(thread)] = sum;
  });
  LinksSigns total;
  for (const LinksSigns& sum : sums) {
    total.plaquette += sum.plaquette;
    total.line += sum.line;
    for (std::size_t mu = 0; mu < 4; ++mu) total.edge[mu] += sum.edge[mu];
  }
  const auto sites = static_cast<double>(volume(extents));
  total.plaquette /= plaquettes_a_site * sites;
  total.line /= 4 * sites;
  for (int mu = 0; mu < 4; ++mu) total.edge[static_cast<std::size_t>(mu)] *= extents[mu] / (sites * std::min(reach, extents[mu]));
  return total;
}

}  // namespace quarkstar::smear
