#pragma once
// Actions with a clover or twisted-mass term.
#include "codelets/actions/clover/action.hpp"
#include "codelets/actions/wilson/kind.hpp"

namespace quarkstar {

/// Clover, and what twisted mass shares with it. Settings csw and csw-time.
class CloverKind : public WilsonKind {
 public:
  explicit CloverKind(double initial_csw = 1);
  std::unique_ptr<Action> action(const HostGauge& gauge, const ActionRun& run) const override;
  double term_bytes(const SettingValues& values, Precision precision, Schur schur) const override;
  int images(Schur schur) const override { return schur == Schur::symmetric ? 2 : 1; }

 protected:
  virtual clover::Parameters term_parameters(const SettingValues& values) const;
};

}  // namespace quarkstar
