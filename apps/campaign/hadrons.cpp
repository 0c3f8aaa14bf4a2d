#include "apps/campaign/hadrons.hpp"

#include "apps/run/parse.hpp"
#include "codelets/lattice/boundary_text.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace quarkstar::app::campaign {
namespace {

constexpr std::array<std::string_view, 4> of_hadrons{"correlators", "momenta", "fold", "sinks"};

std::size_t quark_named(const std::string& name, const HadronTable& table, const Campaign& campaign) {
  std::vector<std::string_view> names;
  for (const Quark& quark : campaign.quarks) {
    if (quark.name == name) return campaign.number_of(quark);
    names.push_back(quark.name);
  }
  refuse(table.quarks_where, fmt::format("'{}' is no quark", name), fmt::format("use two of {}", fmt::join(names, ", ")));
}

/// Both have to be of one kind of field, with one boundary, and one mass.
void require_partners(const Quark& a, const Quark& b, const std::string& where) {
  const ActionKind &first = *a.config.action, &second = *b.config.action;
  if (first.components != second.components)
    refuse(where,
           fmt::format("quark {} has the action {} with {} components, quark {} has {} with {}", a.name, first.name, first.components,
                       b.name, second.name, second.components),
           "use two quarks of spinors, or two staggered ones");
  if (a.config.boundary != b.config.boundary)
    refuse(where,
           fmt::format("quark {} has the boundary {}, quark {} {}", a.name, boundary_text(a.config.boundary), b.name,
                       boundary_text(b.config.boundary)),
           "give both quarks one boundary");
  for (const Quark* quark : {&a, &b})
    if (const std::vector<double> masses = quark->config.masses(); masses.size() > 1)
      refuse(where,
             fmt::format("quark {} has {} = {}, of which a hadron takes one", quark->name, quark->config.action->mass_key,
                         fmt::join(masses, ", ")),
             "make a quark of its own for that mass");
}

/// Names of its own, each of which is a correlator of two quarks, or there is a reason why not.
void require_correlators(const Hadron& hadron, const Campaign& campaign, const std::vector<Assignment>& own) {
  const auto setting = std::find_if(own.begin(), own.end(), [](const Assignment& a) { return a.key == "correlators"; });
  if (setting == own.end()) return;
  std::vector<std::string_view> words, of_actions;
  for (const contract::Family& family : contract::families())
    if (std::find(hadron.families.begin(), hadron.families.end(), family.name) != hadron.families.end()) words.push_back(family.word());
  for (const std::size_t quark : hadron.quarks) {
    const std::vector<std::string_view>& families = campaign.quarks[quark].families;
    of_actions.insert(of_actions.end(), families.begin(), families.end());
  }
  for (const std::string& name : split(setting->value, ',')) {
    if (has_correlator(hadron.families, name)) continue;
    const auto takes_masses = [&](std::string_view family) {
      const std::vector<contract::Choice> all = contract::choose({family}, {std::string(family)});
      return has_correlator({family}, name) && all.front().family->columns > hadron.config.action->components;
    };
    if (std::any_of(of_actions.begin(), of_actions.end(), takes_masses))
      refuse(setting->where, fmt::format("'{}' is of two masses of one quark", name),
             fmt::format("use mesons, of a quark with the other sign of {}", hadron.config.action->mass_key));
    const auto of = [&](std::size_t quark) { return campaign.quarks[hadron.quarks[quark]].config.action->name; };
    const bool of_one = has_correlator(of_actions, name);
    const std::string actions = of(0) == of(1) ? fmt::format("the action {}", of(0)) : fmt::format("the actions {} and {}", of(0), of(1));
    refuse(setting->where,
           of_one ? fmt::format("'{}' of two quarks is not defined for {}", name, actions)
                  : fmt::format("'{}' is no correlator of two quarks of {}", name, actions),
           fmt::format("use correlators of {}", fmt::join(words, ", ")));
  }
}

}  // namespace

bool is_of_hadrons(std::string_view key) { return std::find(of_hadrons.begin(), of_hadrons.end(), key) != of_hadrons.end(); }

HadronTable read_hadron(const std::string& name, const std::string& where, const std::string& file, const toml::table& table) {
  constexpr const char* example = "name two, as in quarks = [\"light\", \"strange\"]";
  HadronTable hadron{name, where, {}, {}, {}};
  in_order(table, [&](const std::string& key, const toml::node& value, unsigned line) {
    const std::string place = fmt::format("{}:{}: hadron.{}.{}", file, line, name, key);
    if (key == "quarks") {
      hadron.quarks = split(setting_text(value, place), ',');
      hadron.quarks_where = place;
      // A text of two names is no list of two: one of them might have a comma.
      if (const toml::array* list = value.as_array(); list != nullptr && list->size() != hadron.quarks.size())
        refuse(place, "a name has a comma", example);
    } else if (is_of_hadrons(key)) {
      hadron.settings.push_back({key, setting_text(value, place, find_setting(key)->separator), place});
    } else {
      refuse(place, "unknown key", fmt::format("use one of quarks, {}", fmt::join(of_hadrons, ", ")));
    }
  });
  if (hadron.quarks.empty()) refuse(where, "its quarks are not given", example);
  if (const std::size_t count = hadron.quarks.size(); count != 2)
    refuse(hadron.quarks_where, count == 1 ? "there is one quark" : fmt::format("there are {} quarks", count), example);
  if (hadron.quarks[0] == hadron.quarks[1])
    refuse(hadron.quarks_where, fmt::format("quark {} is given twice", hadron.quarks[0]),
           fmt::format("correlators of one quark are those of [quark.{}]", hadron.quarks[0]));
  return hadron;
}

Hadron make_hadron(const HadronTable& table, const Campaign& campaign, const std::vector<Assignment>& common) {
  for (const Quark& quark : campaign.quarks)
    if (quark.name == table.name)
      refuse(table.where, fmt::format("there is a quark of this name, {}", quark.where),
             "results are in groups of this name: use another one");
  const std::array<std::size_t, 2> quarks{quark_named(table.quarks[0], table, campaign), quark_named(table.quarks[1], table, campaign)};
  Hadron hadron{{"hadron", table.name, table.where, {}, {}}, quarks};
  const Quark &first = campaign.quarks[hadron.quarks[0]], &second = campaign.quarks[hadron.quarks[1]];
  require_partners(first, second, table.quarks_where);
  hadron.families = contract::families_of_two(first.families, second.families);
  RunConfig& config = hadron.config = first.config;
  config.correlators = {};
  config.sinks = RunConfig{}.sinks;
  config.three_points = {};
  config.low_mode_average = false;
  std::erase_if(config.given, [](const auto& setting) { return is_of_hadrons(setting.first); });
  std::vector<Assignment> above = common;
  std::erase_if(above, [](const Assignment& setting) { return !is_of_hadrons(setting.key); });
  apply_settings(config, above);
  apply_settings(config, table.settings);
  require_correlators(hadron, campaign, table.settings);
  return hadron;
}

void check_hadron(Hadron& hadron, const std::vector<Source>& sources) {
  at_place_of(hadron, [&] {
    complete(hadron.config);
    if (hadron.config.action->components != spinor_components && !smearings_of(hadron.config.sinks).empty())
      throw Error(ErrorKind::input, Parameter("sinks"),
                  fmt::format("smearing is for spinors: hops over one link mix the tastes of the action {}", hadron.config.action->name),
                  "use point sinks for it");
    const std::vector<contract::Choice> choices = hadron.choices();
    if (std::all_of(sources.begin(), sources.end(), [&](const Source& source) { return contract::that_fit(choices, source).empty(); }))
      throw Error(ErrorKind::input, Parameter("correlators"),
                  fmt::format("its rows would be empty: {}", contract::left_out(choices, sources.front())),
                  "choose other correlators, or another source");
  });
}

void tell_quarks_of_hadrons(Campaign& campaign) {
  for (const Hadron& hadron : campaign.hadrons) {
    campaign.quarks[hadron.first_quark()].config.propagators = true;  // it waits in host memory
    std::vector<Sink>& sinks = campaign.quarks[hadron.last_quark()].config.hadron_sinks;
    for (const Sink& sink : hadron.config.sinks)
      if (std::find(sinks.begin(), sinks.end(), sink) == sinks.end()) sinks.push_back(sink);
  }
}

}  // namespace quarkstar::app::campaign
