#include "codelets/actions/staggered/recipe.hpp"

#include <algorithm>

namespace quarkstar::staggered {
namespace {

const std::vector<Recipe>& recipes() {
  using Cut = runtime::Decomposition;
  static const std::vector<Recipe> all{
      {hisq_kind(), [](const Cut& cut, const HostGauge& gauge, const BoundaryAngles& boundary,
                       const LinkNumbers& numbers) { return smear::hisq_links(cut, gauge, boundary, numbers.naik_epsilon); }},
      {asqtad_kind(), [](const Cut& cut, const HostGauge& gauge, const BoundaryAngles& boundary,
                         const LinkNumbers& numbers) { return smear::asqtad_links(cut, gauge, boundary, numbers.u0); }},
      {naive_kind(), [](const Cut& cut, const HostGauge& gauge, const BoundaryAngles& boundary, const LinkNumbers&) {
         return smear::naive_links(cut, gauge, boundary);
       }}};
  return all;
}

}  // namespace

const Recipe* find_recipe(std::string_view action) {
  const auto found =
      std::find_if(recipes().begin(), recipes().end(), [action](const Recipe& recipe) { return recipe.kind.name == action; });
  return found == recipes().end() ? nullptr : &*found;
}

std::vector<std::string> smearing_actions() {
  std::vector<std::string> names;
  for (const Recipe& recipe : recipes())
    if (recipe.smears()) names.emplace_back(recipe.kind.name);
  return names;
}

}  // namespace quarkstar::staggered
