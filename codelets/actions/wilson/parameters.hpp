#pragma once
// What a Wilson operator and its even-odd form are.
#include "codelets/lattice/boundary.hpp"
#include "runtime/cut/coord.hpp"

namespace quarkstar {

/// Wilson operator. kappa normalisation: M = 1 - kappa H; mass normalisation: M = (m0 + 4) - H/2, kappa = 1/(2 (m0 + 4)).
struct WilsonParameters {
  enum class Normalisation { kappa, mass };
  double kappa = 0.13;
  Normalisation normalisation = Normalisation::kappa;
  BoundaryAngles boundary = antiperiodic_in_time;
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
