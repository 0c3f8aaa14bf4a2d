#pragma once
// Clover, twisted mass, and both together, as a solver sees them.
#include "codelets/actions/clover/term.hpp"
#include "codelets/actions/wilson/action.hpp"

#include <memory>

namespace quarkstar::clover {

/// Coefficients of the term.
struct Parameters {
  double csw = 0;
  double mu = 0;
};

/// M = A + 2 i kappa mu gamma_5 - kappa H with A = 1 - kappa csw sum_{mu<nu} sigma_munu F_munu (mass normalisation: M = (m0 + 4) - (csw /
/// 2) sum sigma F + i mu gamma_5 - H/2) on links that outlive it: of twisted mass one flavour, the other has -mu. gamma_5 M(mu) gamma_5 =
/// M(-mu)^+, and M^+ M = M(0)^+ M(0) + (2 kappa mu)^2. The mass of a solve is kappa; with csw the same for all right-hand sides and that
/// of the parameters, for which the term is made. Source: docs/conventions.md, sections 2 and 3; Sheikholeslami and Wohlert (1985);
/// Frezzotti et al., hep-lat/0101001.
class Action : public wilson::Action {
 public:
  Action(const HostGauge& gauge, const WilsonParameters& parameters, const Parameters& clover)
      : wilson::Action(gauge, parameters), clover_(clover) {}
  void check(const runtime::Decomposition& decomposition, const ActionRequest& request) const override;

 protected:
  /// C of sum sigma F on this rank's part. Collective.
  virtual std::shared_ptr<const HostTerm> term(const runtime::Decomposition& decomposition) const {
    return make_term(decomposition, gauge_);
  }

 private:
  std::unique_ptr<quarkstar::PreparedAction> make(const runtime::Decomposition& decomposition, const ActionRequest& request,
                                                  double resident) const override;
  Parameters clover_;
  mutable std::shared_ptr<const HostTerm> term_;  ///< of the part that was asked for last
};

}  // namespace quarkstar::clover
