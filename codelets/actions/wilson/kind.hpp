#pragma once
// Wilson's action, and what actions on the same links and spinors share with it.
#include "codelets/actions/action_kind.hpp"

namespace quarkstar {

/// "normalisation".
ActionSetting normalisation_setting();

class WilsonKind : public ActionKind {
 public:
  WilsonKind();

  /// On links that outlive it.
  virtual std::unique_ptr<Action> action(const HostGauge& gauge, const ActionRun& run) const;

  /// kappa and boundary; normalisation, nu and xi0 where they are settings.
  WilsonParameters parameters(const ActionRun& run) const;

  MakeOperator make_links(runtime::Session& session, const runtime::Decomposition& decomposition, const LinksOfPart& links,
                          ActionRun& run) const override;
  std::array<double, 4> hop_factors(const SettingValues& values) const override;
  RunOperator with_any_links(HostGauge gauge, const ActionRun& run) const override;
};

}  // namespace quarkstar
