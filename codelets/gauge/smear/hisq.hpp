#pragma once
// HISQ links for several Naik epsilons from one configuration.
#include "codelets/gauge/gauge_field.hpp"
#include "codelets/gauge/smear/staggered_links.hpp"

namespace quarkstar::smear {

/// Makes the reunitarized links W once, and of them X_0 and N_0, the links for epsilon = 0. Any other epsilon is then
///   X = X_0 + (eps/8) W,  N = (1 + eps) N_0,
/// which is also how hisq_links() computes it: the same bits alone or together. Needs a running session that outlives
/// it.
class HisqLinks {
 public:
  /// Returns when W, X_0 and N_0 are there. Throws as hisq_links().
  HisqLinks(const runtime::Decomposition& decomposition, const HostGauge& gauge, const BoundaryAngles& boundary);

  /// The links for one epsilon, by this process alone. Throws as check_naik_epsilon().
  StaggeredLinks links(double naik_epsilon) const;

  /// W, without staggered phases but with the boundary's; border of two sites, filled.
  const gauge::GaugeField& reunitarized() const { return unitary_; }

 private:
  gauge::GaugeField unitary_, fat_, long_;
};

}  // namespace quarkstar::smear
