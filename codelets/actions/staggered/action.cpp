#include "codelets/actions/staggered/action.hpp"

#include "codelets/actions/staggered/level.hpp"
#include "runtime/system/error.hpp"

namespace quarkstar::staggered {

stencil::Launch Action::usual_launch(int vectors) const { return default_launch(vectors); }

void Action::check(const runtime::Decomposition&, const LevelRequest& request) const {
  if (request.speed.vectors_in_lanes > 1 && request.link_reals != 18)
    throw ShapeError("staggered::Action", "vectors in lanes are for long links of 18 reals");
  if (request.schwarz)
    throw Error(ErrorKind::input, "--schwarz-block", "the Schwarz preconditioner is Wilson's", "leave it out for staggered actions");
}

std::unique_ptr<quarkstar::Level> Action::level(const runtime::Decomposition& decomposition, const LevelRequest& request) const {
  return std::make_unique<Level>(decomposition, request.precision, links_, request.link_reals, request.speed, 0);
}

Levels Action::levels(const runtime::Decomposition& decomposition, const LevelRequest& request) const {
  Levels levels;
  auto outer = std::make_unique<Level>(decomposition, Precision::double_, links_, 18, request.speed, 0);
  if (request.precision != Precision::double_)
    levels.inner =
        std::make_unique<Level>(decomposition, request.precision, links_, request.link_reals, request.speed, outer->link_bytes());
  else if (links_.has_long && request.link_reals != 18) levels.inner = std::make_unique<Level>(*outer, links_, request.link_reals);
  levels.outer = std::move(outer);
  return levels;
}

}  // namespace quarkstar::staggered
