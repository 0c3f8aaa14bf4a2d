#pragma once
// Hadrons of two quarks: tables [hadron.NAME] of a campaign's file.
#include "apps/campaign/campaign.hpp"
#include "apps/run/toml_text.hpp"

#include <string>
#include <vector>

namespace quarkstar::app::campaign {

/// What stands there.
struct HadronTable {
  std::string name, where;
  std::vector<std::string> quarks;
  std::string quarks_where;
  std::vector<Assignment> settings;  ///< others
};

/// Settings of a solve that say what is made of propagators; others are the quarks'.
bool is_of_hadrons(std::string_view key);

/// Throws Error(input) naming file, line and key where a key is unknown, or there are not two quarks.
HadronTable read_hadron(const std::string& name, const std::string& where, const std::string& file, const toml::table& table);

/// The hadron of quarks that the campaign has. common: settings above the quarks. Throws Error(input) for a name that something else has,
/// for quarks that are unknown or do not go together, and for correlators that hadrons have not.
Hadron make_hadron(const HadronTable& table, const Campaign& campaign, const std::vector<Assignment>& common);

/// Once its quarks are checked. sources: the campaign's, of which one at least has to have one of its correlators.
void check_hadron(Hadron& hadron, const std::vector<Source>& sources);

/// Quarks learn what hadrons made of them need: of the one that is solved for first the propagators, and the other one, behind whose solves
/// both are contracted, has memory for that, and smears for their sinks.
void tell_quarks_of_hadrons(Campaign& campaign);

}  // namespace quarkstar::app::campaign
