#pragma once
// What a Wilson operator and its even-odd form are.
#include "codelets/lattice/boundary.hpp"
#include "runtime/cut/coord.hpp"

#include <algorithm>
#include <array>

namespace quarkstar {

/// Wilson operator. kappa normalisation: M = 1 - kappa H; mass normalisation: M = (m0 + 4) - H/2, kappa = 1/(2 (m0 + 4)). Anisotropic: hops
/// in space times nu / xi0, and M = (m0 + 1 + 3 nu / xi0) - H/2, in the kappa normalisation 2 kappa times that.
struct WilsonParameters {
  enum class Normalisation { kappa, mass };
  double kappa = 0.13;
  Normalisation normalisation = Normalisation::kappa;
  BoundaryAngles boundary = antiperiodic_in_time;
  double nu = 1, xi0 = 1;

  double spatial_hops() const { return nu / xi0; }
  /// Links are stored with their hops' factors over the largest of them: in half precision no number may exceed 1.
  double largest_hop() const { return std::max(1.0, spatial_hops()); }
  std::array<double, 4> link_factors() const {
    const double space = spatial_hops() / largest_hop();
    return {space, space, space, 1 / largest_hop()};
  }
};

/// Even-odd preconditioning: which Schur complement is solved (docs/conventions.md, section 3).
enum class Schur { asymmetric, symmetric };

/// The additive Schwarz preconditioner (codelets/actions/wilson/schwarz.hpp). Domains belong to the lattice, not to its cut: bits depend on
/// them.
struct SchwarzSettings {
  Coord domain{4, 4, 4, 4};  ///< extents
  int steps = 4;             ///< of minimal residual on each domain
};

}  // namespace quarkstar
