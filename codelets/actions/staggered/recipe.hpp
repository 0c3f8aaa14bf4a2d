#pragma once
// How the links of each staggered action are made of a configuration.
#include "codelets/actions/action_kind.hpp"
#include "codelets/gauge/smear/staggered_links.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace quarkstar::staggered {

/// What an action does not have, its links do not depend on.
struct LinkNumbers {
  double naik_epsilon = 0, u0 = 1;
};

struct Recipe {
  const ActionKind& kind;
  /// As smear::hisq_links() and its like, with what they throw.
  smear::StaggeredLinks (*make)(const runtime::Decomposition&, const HostGauge&, const BoundaryAngles&, const LinkNumbers&);

  /// Whether the links are others than those of the configuration, and can be kept in files.
  bool smears() const { return !kind.link_files.empty(); }
  /// Of the kind's settings.
  bool has(std::string_view key) const { return kind.setting(key) != nullptr; }
};

/// nullptr: there is no staggered action of that name.
const Recipe* find_recipe(std::string_view action);
/// Names of the actions that smear.
std::vector<std::string> smearing_actions();

}  // namespace quarkstar::staggered
