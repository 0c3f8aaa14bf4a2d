#pragma once
#include "codelets/actions/action.hpp"
#include "codelets/gauge/host_gauge.hpp"

namespace quarkstar::wilson {

/// The Wilson action on links that outlive it. The mass of a solve is kappa.
class Action : public quarkstar::Action {
 public:
  Action(const HostGauge& gauge, const WilsonParameters& parameters) : gauge_(gauge), parameters_(parameters) {}

  int components() const override { return spinor_components; }
  bool is_hermitian() const override { return false; }
  stencil::Launch usual_launch(int) const override;
  void check(const runtime::Decomposition& decomposition, const ActionRequest& request) const override;
  std::unique_ptr<quarkstar::PreparedAction> in_precision(const runtime::Decomposition& decomposition,
                                                          const ActionRequest& request) const override {
    return make(decomposition, request, 0);
  }
  PreparedActions prepared(const runtime::Decomposition& decomposition, const ActionRequest& request) const override;

 protected:
  /// In one precision, with the preconditioner of the request; resident: bytes per site that the owners hold already.
  virtual std::unique_ptr<quarkstar::PreparedAction> make(const runtime::Decomposition& decomposition, const ActionRequest& request,
                                                          double resident) const;

  const HostGauge& gauge_;
  WilsonParameters parameters_;
};

}  // namespace quarkstar::wilson
