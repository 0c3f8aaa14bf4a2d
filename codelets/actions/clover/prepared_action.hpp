#pragma once
// The (twisted) clover operator in one precision.
#include "codelets/actions/clover/action.hpp"
#include "codelets/actions/clover/hopping.hpp"
#include "codelets/actions/clover/site_matrices.hpp"
#include "codelets/actions/wilson/prepared_action.hpp"

namespace quarkstar::clover {

class PreparedAction : public wilson::PreparedAction {
 public:
  /// Copies links and term into the blocks, and inverts it. Throws as wilson::PreparedAction and SiteMatrices do.
  PreparedAction(const runtime::Decomposition& decomposition, const HostGauge& gauge, const WilsonParameters& parameters,
                 const Parameters& clover, const HostTerm& term, const ActionRequest& request, double resident);

  std::unique_ptr<EvenOdd> system(int vectors, const PerVector& kappa, std::optional<int> parity = {}) override;
  void check_mass(double kappa) const override;
  double link_bytes() const override {
    return wilson::PreparedAction::link_bytes() + SiteMatrices::bytes_per_site(lattice()->precision(), schur_ == Schur::symmetric);
  }
  const SiteMatrices& matrices() const { return matrices_; }

 private:
  std::unique_ptr<stencil::Stencil> make_stencil(int vectors) override { return hopping(even_, odd_, vectors); }
  SiteMatrices matrices_;
};

}  // namespace quarkstar::clover
