#pragma once
// Clover, and twisted mass with clover, as a solver sees them.
#include "codelets/actions/clover/term.hpp"
#include "codelets/actions/wilson/action.hpp"

#include <memory>

namespace quarkstar::clover {

/// Coefficients of the term.
struct Parameters {
  double csw = 1;
  double mu = 0;  ///< of twisted clover
};

/// M = A + 2 i kappa mu gamma_5 - kappa H with A = 1 - kappa csw sum_{mu<nu} sigma_munu F_munu (mass normalisation: M = (m0 + 4) - (csw /
/// 2) sum sigma F + i mu gamma_5 - H/2) on links that outlive it. The mass of a solve is kappa, the same for all right-hand sides and that
/// of the parameters: the term is made for it. Source: docs/conventions.md, sections 2 and 3.
class Action : public wilson::Action {
 public:
  Action(const HostGauge& gauge, const WilsonParameters& parameters, const Parameters& clover)
      : wilson::Action(gauge, parameters), clover_(clover) {}
  void check(const runtime::Decomposition& decomposition, const ActionRequest& request) const override;

 private:
  std::unique_ptr<quarkstar::PreparedAction> make(const runtime::Decomposition& decomposition, const ActionRequest& request,
                                                  double resident) const override;
  Parameters clover_;
  mutable std::shared_ptr<const HostTerm> term_;  ///< of the part that was asked for last
};

}  // namespace quarkstar::clover
