#include "codelets/actions/wilson/action.hpp"

#include "codelets/actions/wilson/prepared_action.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace quarkstar::wilson {

stencil::Launch Action::usual_launch(int) const { return default_launch; }

void Action::check(const runtime::Decomposition& decomposition, const ActionRequest& request) const {
  if (request.link_reals != 18 && request.link_reals != 12 && request.link_reals != 8)
    throw Error(ErrorKind::input, Parameter("links"), fmt::format("{} reals a link", request.link_reals), "use 18, 12 or 8");
  if (request.speed.vectors_in_lanes > 1 && (request.link_reals == 8 || request.precision == Precision::half))
    throw ShapeError("wilson::Action", "vectors in lanes are for links of 18 or 12 reals, in single and double precision");
  if (request.schwarz) require_domains(decomposition, request.schwarz->domain, request.precision);
  for (const auto& [name, value] : {std::pair{"nu", parameters_.nu}, {"xi0", parameters_.xi0}})
    if (!(value > 0) || !std::isfinite(value))
      throw Error(ErrorKind::input, Parameter(name), fmt::format("an anisotropy of {}", value), "give a positive number");
  if (request.link_reals != 18 && parameters_.spatial_hops() != 1)
    throw Error(ErrorKind::input, Parameter("links"),
                fmt::format("{} reals store SU(3) matrices, and hops in space are scaled by nu / xi0 = {}", request.link_reals,
                            parameters_.spatial_hops()),
                "use 18");
  require_kappa(parameters_.kappa, parameters_);
  for (const double angle : parameters_.boundary)
    if (!(std::abs(angle) <= 2))
      throw Error(ErrorKind::input, Parameter("boundary"), fmt::format("an angle of {} pi", angle),
                  "give angles between -2 and 2, in units of pi");
}

std::unique_ptr<quarkstar::PreparedAction> Action::make(const runtime::Decomposition& decomposition, const ActionRequest& request,
                                                        double resident) const {
  return std::make_unique<PreparedAction>(decomposition, gauge_, parameters_, request, resident);
}

PreparedActions Action::prepared(const runtime::Decomposition& decomposition, const ActionRequest& request) const {
  PreparedActions prepared;
  if (request.precision == Precision::double_) {
    prepared.outer = make(decomposition, request, 0);
    return prepared;
  }
  ActionRequest outer = request;
  outer.precision = Precision::double_;
  outer.link_reals = 18;
  outer.schwarz.reset();
  outer.unit = ActionRequest{}.unit;
  prepared.outer = make(decomposition, outer, 0);
  ActionRequest inner = request;
  inner.wide = prepared.outer.get();
  prepared.inner = make(decomposition, inner, prepared.outer->link_bytes());
  return prepared;
}

}  // namespace quarkstar::wilson
