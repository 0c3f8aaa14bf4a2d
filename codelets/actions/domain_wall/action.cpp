#include "codelets/actions/domain_wall/action.hpp"

#include "codelets/actions/domain_wall/prepared_action.hpp"
#include "runtime/graph/sum_capacity.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <cmath>

namespace quarkstar::domain_wall {

void check_parameters(const Parameters& parameters, int slices) {
  const auto refuse = [](const char* key, const std::string& what, const std::string& remedy) {
    throw Error(ErrorKind::input, Parameter(key), what, remedy);
  };
  if (slices < least_slices || slices > most_slices || slices % 2 != 0)
    refuse("ls", fmt::format("{} slices", slices),
           fmt::format("give an even number from {} to {}: the midpoint lies between two slices", least_slices, most_slices));
  if (!(parameters.m5 > 0 && parameters.m5 < 2))
    refuse("m5", fmt::format("a height of {}", parameters.m5), "give a number between 0 and 2");
  for (const auto& [key, values] : {std::pair{"b5", &parameters.b}, {"c5", &parameters.c}}) {
    if (static_cast<int>(values->size()) != slices)
      refuse(key, fmt::format("{} numbers for {} slices", values->size(), slices), "give one for all, or one for each");
    for (const double value : *values)
      if (!std::isfinite(value)) refuse(key, fmt::format("a coefficient of {}", value), "give finite numbers");
  }
  bool hops = false;
  for (std::size_t s = 0; s < parameters.b.size(); ++s) hops = hops || parameters.b[s] != 0 || parameters.c[s] != 0;
  if (!hops) refuse("b5", "b5 and c5 are 0, and nothing hops", "give one that is not 0");
}

void Action::check(const runtime::Decomposition& decomposition, const ActionRequest& request) const {
  check_parameters(five_);
  if (request.schwarz || request.unit != ActionRequest{}.unit)
    throw Error(ErrorKind::input, Parameter(request.schwarz ? "schwarz-block" : "aggregate"),
                "this preconditioner is not for domain-wall fermions", "leave it out");
  const double summands = 0.5 * static_cast<double>(volume(decomposition.lattice())) * five_.slices();
  if (summands > static_cast<double>(runtime::most_summands))
    throw Error(ErrorKind::input, Parameter("ls"),
                fmt::format("{} slices have more sites than the {} over which sums are exact", five_.slices(), runtime::most_summands),
                "use fewer slices or a smaller lattice");
  wilson::Action::check(decomposition, request);
}

std::unique_ptr<quarkstar::PreparedAction> Action::make(const runtime::Decomposition& decomposition, const ActionRequest& request,
                                                        double resident) const {
  return std::make_unique<PreparedAction>(decomposition, gauge_, five_, request, resident);
}

}  // namespace quarkstar::domain_wall
