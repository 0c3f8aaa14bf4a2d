#pragma once
// The Wilson operator in one precision.
#include "codelets/actions/action.hpp"
#include "codelets/actions/wilson/even_odd.hpp"
#include "codelets/actions/wilson/schwarz.hpp"
#include "codelets/gauge/host_gauge.hpp"

namespace quarkstar::wilson {

/// Throws Error(input) for a hopping parameter that makes no sense, with these other parameters.
void require_kappa(double kappa, const WilsonParameters& parameters);

/// What tuning must know of the hopping term.
stencil::Subject tuning_subject(Precision precision, int link_reals, const BoundaryAngles& boundary, const Coord& unit = {2, 2, 2, 2});

class PreparedAction : public quarkstar::PreparedAction {
 public:
  /// Copies the links into the blocks, in request.precision. The Schwarz preconditioner has the action's own kappa, whatever those of the
  /// right-hand sides. Throws Error(input) for links that are not SU(3) and should become 12 or 8 reals, and for domains that do not fit.
  PreparedAction(const runtime::Decomposition& decomposition, const HostGauge& gauge, const WilsonParameters& parameters,
                 const ActionRequest& request, double resident);

  std::unique_ptr<quarkstar::EvenOdd> system(int vectors, const PerVector& kappa, std::optional<int> parity = {}) override;
  transfer::WideLinks wide_links() const override { return transfer::wide_links(even_, odd_); }
  void check_mass(double kappa) const override { require_kappa(kappa, parameters_); }
  std::optional<double> own_mass() const override { return parameters_.kappa; }
  Preconditioner preconditioner() override;

 protected:
  std::unique_ptr<stencil::Stencil> make_stencil(int vectors) override { return std::make_unique<Hopping>(even_, odd_, vectors); }
  /// Throws ShapeError for a system on even sites.
  static void require_odd(std::optional<int> parity);

  WilsonParameters parameters_;
  Schur schur_;
  LinkField even_, odd_;

 private:
  std::optional<Schwarz> schwarz_;
};

}  // namespace quarkstar::wilson
