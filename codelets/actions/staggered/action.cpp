#include "codelets/actions/staggered/action.hpp"

#include "codelets/actions/staggered/prepared_action.hpp"
#include "runtime/system/error.hpp"

namespace quarkstar::staggered {

stencil::Launch Action::usual_launch(int vectors) const { return default_launch(vectors); }

void Action::check(const runtime::Decomposition&, const ActionRequest& request) const {
  if (request.speed.vectors_in_lanes > 1 && request.link_reals != 18)
    throw ShapeError("staggered::Action", "vectors in lanes are for long links of 18 reals");
  if (request.schwarz)
    throw Error(ErrorKind::input, Parameter("schwarz-block"), "the Schwarz preconditioner is Wilson's",
                "leave it out for staggered actions");
}

std::unique_ptr<quarkstar::PreparedAction> Action::in_precision(const runtime::Decomposition& decomposition,
                                                                const ActionRequest& request) const {
  return std::make_unique<PreparedAction>(decomposition, request.precision, links_, request.link_reals, request.speed, 0);
}

PreparedActions Action::prepared(const runtime::Decomposition& decomposition, const ActionRequest& request) const {
  PreparedActions prepared;
  auto outer = std::make_unique<PreparedAction>(decomposition, Precision::double_, links_, 18, request.speed, 0);
  if (request.precision != Precision::double_)
    prepared.inner = std::make_unique<PreparedAction>(decomposition, request.precision, links_, request.link_reals, request.speed,
                                                      outer->link_bytes(), outer.get());
  else if (links_.has_long && request.link_reals != 18)
    prepared.inner = std::make_unique<PreparedAction>(*outer, links_, request.link_reals);
  prepared.outer = std::move(outer);
  return prepared;
}

}  // namespace quarkstar::staggered
