#include "tests/reference/staggered.hpp"

#include "runtime/system/error.hpp"
#include "tests/reference/gauge.hpp"

namespace quarkstar::reference {
namespace {

/// eta [L_mu(x) chi(x + distance mu) - L_mu^+(x - distance mu) chi(x - distance mu)]
Vector<3> difference(const HostGauge& links, const Field& chi, const Coord& x, int mu, int distance) {
  const std::int64_t site = lexicographic(x, links.extents);
  const std::int64_t next = lexicographic(step(x, mu, +distance, links.extents), links.extents);
  const std::int64_t previous = lexicographic(step(x, mu, -distance, links.extents), links.extents);
  const Vector<3> forward = link(links, site, mu) * chi.colour_vector(next, 0);
  const Vector<3> backward = adjoint(link(links, previous, mu)) * chi.colour_vector(previous, 0);
  Vector<3> result;
  for (int c = 0; c < 3; ++c) result[c] = staggered_phase(x, mu) * (forward[c] - backward[c]);
  return result;
}

}  // namespace

double staggered_phase(const Coord& x, int mu) {
  const std::array<int, 4> exponent{x[3], x[3] + x[0], x[3] + x[0] + x[1], 0};
  return exponent[mu] % 2 == 0 ? 1.0 : -1.0;
}

Field staggered_dslash(const StaggeredLinks& links, const Field& chi) {
  const Coord& extents = links.fat.extents;
  if (chi.extents != extents || chi.spins != 1)
    throw ShapeError("reference::staggered_dslash", "the colour field's extents or spins differ from the links'");
  Field result(extents, 1);
  for (std::int64_t site = 0; site < result.sites(); ++site) {
    const Coord x = coordinates(site, extents);
    for (int mu = 0; mu < 4; ++mu) {
      const Vector<3> one_hop = difference(links.fat, chi, x, mu, 1);
      const Vector<3> three_hops = difference(links.naik, chi, x, mu, 3);
      for (int c = 0; c < 3; ++c) result(site, 0, c) += one_hop[c] + three_hops[c];
    }
  }
  return result;
}

Field staggered(const StaggeredLinks& links, double mass, const Field& chi) { return 2.0 * mass * chi + staggered_dslash(links, chi); }

Field staggered_dagger(const StaggeredLinks& links, double mass, const Field& chi) {
  return 2.0 * mass * chi - staggered_dslash(links, chi);
}

Field staggered_normal(const StaggeredLinks& links, double mass, const Field& chi) {
  return 4.0 * mass * mass * chi - staggered_dslash(links, staggered_dslash(links, chi));
}

}  // namespace quarkstar::reference
