#pragma once
// What a domain-wall operator is.
#include "codelets/actions/wilson/parameters.hpp"
#include "codelets/field/vector_status.hpp"

#include <vector>

namespace quarkstar::domain_wall {

inline constexpr int least_slices = 4, most_slices = most_vectors;

/// D5 psi = (b_s D_W + 1) psi_s + (c_s D_W - 1) (L psi)_s with D_W = a - H / 2, a = 1 - M5 + 3 nu / xi0, H's hops in space times nu / xi0,
/// and (L psi)_s = P- psi_{s+1} + P+ psi_{s-1}, where the terms that wrap around have the factor -m; P+- = (1 +- gamma_5) / 2. Shamir: b =
/// 1, c = 0. Source: arXiv:hep-lat/9303005, arXiv:1206.5214; signs in docs/conventions.md, section 13.
struct Parameters {
  double m5 = 1.8;
  double mass = 0.1;         ///< the action's own
  std::vector<double> b, c;  ///< of each slice
  WilsonParameters links{};  ///< boundary, nu and xi0
  int slices() const { return static_cast<int>(b.size()); }
  double diagonal() const { return 1 - m5 + 3 * links.spatial_hops(); }
  /// Of H with links that have been divided by their largest factor.
  double half_hop() const { return 0.5 * links.largest_hop(); }
};

}  // namespace quarkstar::domain_wall
