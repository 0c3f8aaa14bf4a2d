#include "codelets/actions/wilson/action.hpp"

#include "codelets/actions/wilson/prepared_action.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <cmath>

namespace quarkstar::wilson {

stencil::Launch Action::usual_launch(int) const { return default_launch; }

void Action::check(const runtime::Decomposition& decomposition, const ActionRequest& request) const {
  if (request.link_reals != 18 && request.link_reals != 12 && request.link_reals != 8)
    throw Error(ErrorKind::input, Parameter("links"), fmt::format("{} reals a link", request.link_reals), "use 18, 12 or 8");
  if (request.speed.vectors_in_lanes > 1 && (request.link_reals == 8 || request.precision == Precision::half))
    throw ShapeError("wilson::Action", "vectors in lanes are for links of 18 or 12 reals, in single and double precision");
  if (request.schwarz) require_domains(decomposition, request.schwarz->domain);
  require_kappa(parameters_.kappa);
  for (const double angle : parameters_.boundary)
    if (!(std::abs(angle) <= 2))
      throw Error(ErrorKind::input, Parameter("boundary"), fmt::format("an angle of {} pi", angle),
                  "give angles between -2 and 2, in units of pi");
}

std::unique_ptr<quarkstar::PreparedAction> Action::in_precision(const runtime::Decomposition& decomposition,
                                                                const ActionRequest& request) const {
  return std::make_unique<PreparedAction>(decomposition, request.precision, gauge_, request.link_reals, parameters_, request.schur,
                                          request.schwarz, request.speed, 0);
}

PreparedActions Action::prepared(const runtime::Decomposition& decomposition, const ActionRequest& request) const {
  const bool mixed = request.precision != Precision::double_;
  const auto make = [&](Precision precision, int reals, bool preconditioned, double resident) {
    return std::make_unique<PreparedAction>(decomposition, precision, gauge_, reals, parameters_, request.schur,
                                            preconditioned ? request.schwarz : std::nullopt, request.speed, resident);
  };
  PreparedActions prepared;
  prepared.outer = make(Precision::double_, mixed ? 18 : request.link_reals, !mixed, 0);
  if (mixed) prepared.inner = make(request.precision, request.link_reals, true, prepared.outer->link_bytes());
  return prepared;
}

}  // namespace quarkstar::wilson
