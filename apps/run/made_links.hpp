#pragma once
// Links that an action makes of a configuration, kept from one quark of a campaign to the next.
#include "codelets/actions/action_kind.hpp"

#include <string>

namespace quarkstar::app {

class MadeLinks {
 public:
  /// ActionKind::make_links(), or what it gave the last time, where the same links come of it: of one action that makes links, with
  /// settings that differ in its masses alone, and of this rank's same part. Else what was kept goes first, so that there are never links
  /// of two quarks. Under MPI all ranks call.
  const MakeOperator& operator()(const ActionKind& kind, runtime::Session& session, const runtime::Decomposition& decomposition,
                                 const LinksOfPart& links, ActionRun& run);
  /// Before another configuration.
  void forget();

 private:
  std::string key_;  ///< of what is kept; empty: nothing that another quark could take
  MakeOperator make_;
  GaugeSummary gauge_;
};

}  // namespace quarkstar::app
