#pragma once
// A domain-wall operator in one precision.
#include "codelets/actions/action.hpp"
#include "codelets/actions/domain_wall/even_odd.hpp"
#include "codelets/actions/domain_wall/walls.hpp"
#include "codelets/gauge/host_gauge.hpp"

#include <memory>

namespace quarkstar::domain_wall {

/// On a lattice with L_s slices, which are vectors to Wilson's hops: a link is read once for all slices and right-hand sides.
class PreparedAction final : public quarkstar::PreparedAction {
 public:
  /// Copies the links into the blocks, in request.precision. Throws as wilson::PreparedAction does.
  PreparedAction(const runtime::Decomposition& decomposition, const HostGauge& gauge, const Parameters& parameters,
                 const ActionRequest& request, double resident);

  std::unique_ptr<quarkstar::EvenOdd> system(int vectors, const PerVector& mass, std::optional<int> parity = {}) override;
  transfer::WideLinks wide_links() const override { return transfer::wide_links(even_, odd_); }
  void check_mass(double mass) const override;
  std::optional<double> own_mass() const override { return parameters_.mass; }
  PhysicalFields* physical() override;

 private:
  std::unique_ptr<stencil::Stencil> make_stencil(int vectors) override;

  Parameters parameters_;
  Schur schur_;
  std::optional<int> most_lanes_;
  LinkField even_, odd_;
  std::unique_ptr<Walls> walls_;
};

}  // namespace quarkstar::domain_wall
