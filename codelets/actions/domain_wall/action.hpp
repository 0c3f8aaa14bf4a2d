#pragma once
#include "codelets/actions/domain_wall/parameters.hpp"
#include "codelets/actions/wilson/action.hpp"

namespace quarkstar::domain_wall {

/// Throws Error(input) naming the setting for parameters that make no sense: m5, ls, b5, c5. slices: as many as b5 and c5 should have.
void check_parameters(const Parameters& parameters, int slices);
inline void check_parameters(const Parameters& parameters) { check_parameters(parameters, parameters.slices()); }

/// Domain-wall fermions on links that outlive it: Shamir's, or Moebius with b and c of each slice. The mass of a solve is m.
class Action final : public wilson::Action {
 public:
  Action(const HostGauge& gauge, const Parameters& parameters) : wilson::Action(gauge, parameters.links), five_(parameters) {}

  int slices() const override { return five_.slices(); }
  void check(const runtime::Decomposition& decomposition, const ActionRequest& request) const override;

 protected:
  std::unique_ptr<quarkstar::PreparedAction> make(const runtime::Decomposition& decomposition, const ActionRequest& request,
                                                  double resident) const override;

 private:
  Parameters five_;
};

}  // namespace quarkstar::domain_wall
