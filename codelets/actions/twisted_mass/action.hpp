#pragma once
// Twisted mass as a solver sees it.
#include "codelets/actions/wilson/action.hpp"

namespace quarkstar::twisted_mass {

/// M = 1 + 2 i kappa mu gamma_5 - kappa H (mass normalisation: (m0 + 4) + i mu gamma_5 - H/2) on links that outlive it: one flavour, the
/// other has -mu. The mass of a solve is kappa. gamma_5 M(mu) gamma_5 = M(-mu)^+, and M^+ M = M(0)^+ M(0) + (2 kappa mu)^2.
/// Source: docs/conventions.md, section 2; Frezzotti et al., hep-lat/0101001.
class Action : public wilson::Action {
 public:
  Action(const HostGauge& gauge, const WilsonParameters& parameters, double mu) : wilson::Action(gauge, parameters), mu_(mu) {}
  void check(const runtime::Decomposition& decomposition, const ActionRequest& request) const override;

 private:
  std::unique_ptr<quarkstar::PreparedAction> make(const runtime::Decomposition& decomposition, const ActionRequest& request,
                                                  double resident) const override;
  double mu_;
};

}  // namespace quarkstar::twisted_mass
