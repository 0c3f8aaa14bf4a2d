#pragma once
// Wilson's action, and what actions on the same links and spinors share with it.
#include "apps/run/action_kind.hpp"

namespace quarkstar::app {

class WilsonKind : public ActionKind {
 public:
  WilsonKind();

  /// On links that outlive it.
  virtual std::unique_ptr<Action> action(const HostGauge& gauge, const RunConfig& config) const;

  void check(const RunConfig& config) const override;
  std::vector<double> masses(const RunConfig& config) const override { return {config.wilson.kappa}; }
  OperatorShape shape(const RunConfig& config) const override { return wilson_shape(config.solver); }
  void add_links(std::vector<MemoryNeed>& needs, const runtime::Session& session, const runtime::Decomposition& decomposition,
                 const RunConfig& config) const override;
  PartBytes part_bytes(const Coord& lattice, int direction, const RunConfig& config) const override;
  MakeOperator make_links(runtime::Session& session, const runtime::Decomposition& decomposition, const LinksOfPart& links,
                          RunReport& report) const override;
  RunOperator with_any_links(HostGauge gauge) const override;
  std::vector<CorrelatorReport> contract(const Propagators& propagators, const Source& source, int times) const override;
};

}  // namespace quarkstar::app
