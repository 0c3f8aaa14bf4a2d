#pragma once
#include "codelets/actions/action.hpp"
#include "codelets/gauge/smear/staggered_links.hpp"

namespace quarkstar::staggered {

/// A staggered action by its fat and long links, with all phases, of this rank's part and of hops into it, or more; they outlive it.
class Action : public quarkstar::Action {
 public:
  explicit Action(const smear::StaggeredLinks& links) : links_(links) {}

  int components() const override { return colour_components; }
  bool is_hermitian() const override { return true; }
  stencil::Launch usual_launch(int vectors) const override;
  void check(const runtime::Decomposition& decomposition, const ActionRequest& request) const override;
  std::unique_ptr<quarkstar::PreparedAction> in_precision(const runtime::Decomposition& decomposition,
                                                          const ActionRequest& request) const override;
  /// Residuals and corrections are taken with all 18 reals of long links in double precision.
  PreparedActions prepared(const runtime::Decomposition& decomposition, const ActionRequest& request) const override;

 private:
  const smear::StaggeredLinks& links_;
};

}  // namespace quarkstar::staggered
