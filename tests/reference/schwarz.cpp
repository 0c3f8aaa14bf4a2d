#include "tests/reference/schwarz.hpp"

#include "tests/reference/gauge.hpp"
#include "tests/reference/wilson.hpp"

namespace quarkstar::reference {
namespace {

/// psi on the sites of the domain with that number, zero elsewhere.
Field restrict_to_domain(const Field& psi, const Coord& domain, const Coord& number) {
  Field part = psi;
  for (std::int64_t site = 0; site < psi.sites(); ++site) {
    const Coord x = coordinates(site, psi.extents);
    bool inside = true;
    for (int mu = 0; mu < 4; ++mu) inside = inside && x[mu] / domain[mu] == number[mu];
    if (inside) continue;
    for (int spin = 0; spin < 4; ++spin)
      for (int colour = 0; colour < 3; ++colour) part(site, spin, colour) = 0;
  }
  return part;
}

}  // namespace

HostGauge dirichlet_links(const HostGauge& gauge, const Coord& domain) {
  HostGauge cut = gauge;
  for (std::int64_t site = 0; site < volume(gauge.extents); ++site) {
    const Coord x = coordinates(site, gauge.extents);
    for (int mu = 0; mu < 4; ++mu)
      if (x[mu] % domain[mu] == domain[mu] - 1) set_link(cut, site, mu, Matrix<3>{});
  }
  return cut;
}

Field schwarz(const HostGauge& gauge, const Field& b, const Coord& domain, int steps, double diagonal, double scale,
              const Boundary& boundary) {
  const HostGauge cut = dirichlet_links(gauge, domain);
  const auto a = [&](const Field& x) { return diagonal * x + scale * hop_parity(cut, hop_parity(cut, x, 0, boundary), 1, boundary); };
  Coord domains{};
  for (int mu = 0; mu < 4; ++mu) domains[mu] = b.extents[mu] / domain[mu];
  Field z(b.extents, 4);
  for (std::int64_t number = 0; number < volume(domains); ++number) {
    Field r = restrict_to_domain(restrict_to_parity(b, 1), domain, coordinates(number, domains));
    for (int step = 0; step < steps && norm2(r) > 0; ++step) {
      const Field image = a(r);
      const Complex alpha = inner(image, r) / norm2(image);
      z = z + alpha * r;
      r = r - alpha * image;
    }
  }
  return z;
}

}  // namespace quarkstar::reference
