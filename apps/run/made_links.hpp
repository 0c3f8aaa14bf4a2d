#pragma once
// Links that an action makes of a configuration, kept from one quark of a campaign to the next.
#include "codelets/actions/action_kind.hpp"

#include <string>

namespace quarkstar::app {

class MadeLinks {
 public:
  /// ActionKind::make_links(), or what it gave the last time, where the same links come of it: of one action that makes links and whose
  /// masses share them, with the same boundary and settings that make links, on the same part of each rank. Else what was kept goes first,
  /// so that there are never links of two quarks. Under MPI all ranks call.
  MakeOperator operator()(const ActionKind& kind, runtime::Session& session, const runtime::Decomposition& decomposition,
                          const LinksOfPart& links, ActionRun& run);
  /// Before another configuration.
  void forget();

 private:
  std::string key_;  ///< of what is kept; empty: nothing is
  MakeOperator make_;
  GaugeSummary gauge_;
};

}  // namespace quarkstar::app
