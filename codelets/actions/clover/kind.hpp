#pragma once
// Actions with a clover or twisted-mass term.
#include "codelets/actions/wilson/kind.hpp"

namespace quarkstar {

/// "csw".
ActionSetting csw_setting(double initial);

/// Clover, and what twisted mass shares with it. Settings csw and, where it is one, mu.
class CloverKind : public WilsonKind {
 public:
  CloverKind();
  std::unique_ptr<Action> action(const HostGauge& gauge, const ActionRun& run) const override;
  double term_bytes(const SettingValues& values, Precision precision, Schur schur) const override;
  int images(Schur schur) const override { return schur == Schur::symmetric ? 2 : 1; }
};

}  // namespace quarkstar
