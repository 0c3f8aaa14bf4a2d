#pragma once
// Clover, twisted mass, and both together, as a solver sees them.
#include "codelets/actions/clover/term.hpp"
#include "codelets/actions/wilson/action.hpp"

#include <memory>
#include <optional>

namespace quarkstar::clover {

/// Coefficients of the term. csw: in planes of space, on anisotropic lattices divided by xi0; csw_time: in planes with time, csw where none
/// is given.
struct Parameters {
  double csw = 0;
  double mu = 0;
  std::optional<double> csw_time = {};
  bool mass_is_mu = false;  ///< the mass of a solve is mu, with the kappa of the action; else kappa, with mu that of the action

  double in_time() const { return csw_time.value_or(csw); }
  bool has_clover() const { return csw != 0 || in_time() != 0; }
  /// What C is multiplied by, with kappa, and the weights that C then has.
  double coefficient(double xi0) const { return in_time() != 0 ? in_time() : csw / xi0; }
  PlaneWeights weights(double xi0) const { return {csw / xi0 / coefficient(xi0), in_time() / coefficient(xi0)}; }
};

/// M = A + 2 i kappa mu gamma_5 - kappa H with A = 1 - kappa csw sum_{mu<nu} sigma_munu F_munu (mass normalisation: M = (m0 + 4) - (csw /
/// 2) sum sigma F + i mu gamma_5 - H/2; anisotropic: WilsonParameters, Parameters) on links that outlive it: of twisted mass one flavour,
/// the other has -mu. gamma_5 M(mu) gamma_5 =
/// M(-mu)^+, and M^+ M = M(0)^+ M(0) + (2 kappa mu)^2. The mass of a solve is kappa, or mu; with csw the same for all right-hand sides and
/// that of the parameters, for which the term is made. Source: docs/conventions.md, sections 2 and 3; Sheikholeslami and Wohlert (1985);
/// Frezzotti et al., hep-lat/0101001.
class Action : public wilson::Action {
 public:
  Action(const HostGauge& gauge, const WilsonParameters& parameters, const Parameters& clover)
      : wilson::Action(gauge, parameters), clover_(clover) {}
  void check(const runtime::Decomposition& decomposition, const ActionRequest& request) const override;

 protected:
  /// C, of sum sigma F, on this rank's part. Collective.
  virtual std::shared_ptr<const HostTerm> term(const runtime::Decomposition& decomposition) const {
    return make_term(decomposition, gauge_, clover_.weights(parameters_.xi0));
  }

 private:
  std::unique_ptr<quarkstar::PreparedAction> make(const runtime::Decomposition& decomposition, const ActionRequest& request,
                                                  double resident) const override;
  Parameters clover_;
  mutable std::shared_ptr<const HostTerm> term_;  ///< of the part that was asked for last
};

}  // namespace quarkstar::clover
