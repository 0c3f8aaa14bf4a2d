#pragma once
// The operator with a clover or twisted-mass term in one precision.
#include "codelets/actions/clover/action.hpp"
#include "codelets/actions/clover/hopping.hpp"
#include "codelets/actions/clover/site_matrices.hpp"
#include "codelets/actions/wilson/prepared_action.hpp"

#include <optional>
#include <utility>

namespace quarkstar::clover {

class PreparedAction : public wilson::PreparedAction {
 public:
  /// Copies links and term into the blocks, and inverts it; without a term there is none of clover. Throws as wilson::PreparedAction and
  /// SiteMatrices do.
  PreparedAction(const runtime::Decomposition& decomposition, const HostGauge& gauge, const WilsonParameters& parameters,
                 const Parameters& clover, const HostTerm* term, const ActionRequest& request, double resident);

  std::unique_ptr<EvenOdd> system(int vectors, const PerVector& mass, std::optional<int> parity = {}) override;
  stencil::Output usual_output(int vectors, int parity) const override;
  void check_mass(double mass) const override;
  bool serves(double mass) const override { return !matrices_ || mass == *own_mass(); }
  std::optional<double> own_mass() const override { return clover_.mass_is_mu ? clover_.mu : parameters_.kappa; }
  /// Of mu without a clover term: with one the even-odd system has an inverse that was made for one mu.
  std::optional<double> shift_between(double mass, double base) const override;
  double link_bytes() const override { return wilson::PreparedAction::link_bytes() + matrix_bytes_; }
  /// log_det_even and, where there is an inverse on odd sites, log_det_odd of the clover term (SiteMatrices::log_det()).
  std::vector<std::pair<std::string, double>> numbers() const override;
  /// Of the clover term, which must be there.
  const SiteMatrices& matrices() const { return *matrices_; }

 private:
  std::unique_ptr<stencil::Stencil> make_stencil(int vectors) override { return hopping(even_, odd_, vectors, matrices_.has_value()); }
  /// Of a right-hand side with this mass.
  std::pair<WilsonParameters, Parameters> of_mass(double mass) const;
  wilson::SiteTerm twisted_mass(int vectors, const PerVector& mass) const;

  Parameters clover_;
  double matrix_bytes_;
  std::optional<SiteMatrices> matrices_;
};

}  // namespace quarkstar::clover
