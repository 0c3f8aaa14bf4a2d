#pragma once
// Domain-wall fermions between the reference's slices and the package's fields.
#include "codelets/actions/domain_wall/action.hpp"
#include "tests/battery/support.hpp"
#include "tests/reference/domain_wall.hpp"

#include <span>
#include <utility>

namespace quarkstar::battery {

/// L_s, b5 and c5 (of each slice), M5, mass and nu, xi0.
struct WallCase {
  const char* name;
  std::vector<double> b, c;
  double m5 = 1.8, mass = 0.1, nu = 1, xi0 = 1;

  domain_wall::Parameters parameters() const {
    domain_wall::Parameters made{.m5 = m5, .mass = mass, .b = b, .c = c};
    made.links.nu = nu;
    made.links.xi0 = xi0;
    return made;
  }
  reference::DomainWall reference(const HostGauge& gauge, double of_mass) const {
    return {gauge, {.m5 = m5, .mass = of_mass, .b5 = b, .c5 = c, .nu = nu, .xi0 = xi0}};
  }
};

inline WallCase shamir(std::size_t ls, double m5 = 1.8, double mass = 0.1) {
  return {"Shamir", std::vector<double>(ls, 1), std::vector<double>(ls, 0), m5, mass};
}
inline WallCase moebius(std::size_t ls, double b, double c, double m5 = 1.8, double mass = 0.1) {
  return {"Moebius", std::vector<double>(ls, b), std::vector<double>(ls, c), m5, mass};
}

/// Host fields of vectors with slices each, [s n + v].
inline std::vector<HostField> slices_to_host(std::span<const reference::Slices> vectors) {
  std::vector<HostField> host;
  for (std::size_t s = 0; s < vectors[0].size(); ++s)
    for (const reference::Slices& vector : vectors) host.push_back(to_host(vector[s]));
  return host;
}
inline reference::Slices slices_of(std::span<const HostField> host, std::size_t v, std::size_t n) {
  reference::Slices slices;
  for (std::size_t i = v; i < host.size(); i += n) slices.push_back(to_reference(host[i]));
  return slices;
}

}  // namespace quarkstar::battery
