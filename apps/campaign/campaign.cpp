#include "apps/campaign/campaign.hpp"

#include "apps/campaign/hadrons.hpp"
#include "apps/run/eigen_file.hpp"
#include "apps/run/null_vector_files.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/toml_text.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "solvers/krylov/krylov.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

namespace quarkstar::app::campaign {
namespace {

constexpr std::string_view howto_page = "docs/howto/campaign.md";

constexpr std::array<std::string_view, 19> of_whole{
    "lattice",    "reunitarize", "blocks", "share",      "ranks",   "rank-weights", "policy",      "watts",    "devices", "cpu-share",
    "gpu-memory", "cpu-memory",  "gpus",   "share-gpus", "workers", "threads",      "worker-mode", "throttle", "watchdog"};

/// Settings of a solve that a campaign has no use for, and what it has instead.
struct Refused {
  std::string_view key, instead;
};
constexpr std::string_view has_journal = "leave it out: what is done is in the journal, and is not done again";
constexpr Refused refused[] = {{"gauge", "name the files in `configurations`"},
                               {"source", "list them in `sources`"},
                               {"columns", "leave it out: correlators need all of them"},
                               {"json", "leave it out: results are in the folder `out`"},
                               {"trace", "use `quarkstar solve` for one configuration"},
                               {"graph", "use `quarkstar solve` for one configuration"},
                               {"decisions", "use `quarkstar solve` for one configuration"},
                               {"bound", "use `quarkstar solve` for one configuration"},
                               {"residual-history", "use `quarkstar solve` for one configuration"},
                               {"propagators", "write `propagators = true` above the quarks"},
                               {"checkpoint", has_journal},
                               {"checkpoint-every", has_journal},
                               {"krylov-state", has_journal},
                               {"redundant", has_journal}};

/// One text, or a list of them.
std::vector<std::string> texts_of(const toml::node& node, const std::string& where, const std::string& example) {
  const auto text_of = [&](const toml::node& one) {
    const auto* text = one.as_string();
    if (text == nullptr || text->get().empty()) refuse(where, "this is a list of texts", "write it as " + example);
    return text->get();
  };
  const toml::array* list = node.as_array();
  if (list == nullptr) return {text_of(node)};
  if (list->empty()) refuse(where, "the list is empty", "write it as " + example);
  std::vector<std::string> texts;
  for (const toml::node& one : *list) texts.push_back(text_of(one));
  return texts;
}

/// What stands in the file above the quarks, and in each of them, as settings of a solve.
struct Parsed {
  std::vector<std::string> patterns;
  std::string patterns_where;
  std::vector<Assignment> common;
  struct QuarkTable {
    std::string name, where;
    std::vector<Assignment> settings;
  };
  std::vector<QuarkTable> quarks;
  std::vector<HadronTable> hadrons;
};

/// A setting of a solve that may stand in a campaign's file.
Assignment setting_in(const std::string& key, const toml::node& value, const std::string& where, bool in_quark) {
  for (const Refused& no : refused)
    if (no.key == key) refuse(where, "a campaign has no such key", std::string(no.instead));
  const Setting* setting = find_setting(key);
  if (setting == nullptr || key == "out") {
    std::vector<std::string> keys;
    if (!in_quark) keys = {"configurations", "out", "sources", "propagators", "bin", "grace", "helper", "[quark.NAME]", "[hadron.NAME]"};
    for (const Setting& known : run_settings())
      if (std::none_of(std::begin(refused), std::end(refused), [&](const Refused& no) { return no.key == known.key; }) &&
          known.key != "out" && !(in_quark && is_of_whole_campaign(known.key)))
        keys.emplace_back(known.key);
    refuse(where, "unknown key", use_one_of(key, keys));
  }
  if (in_quark && is_of_whole_campaign(key)) refuse(where, "this is for all quarks", "write it above the first [quark.NAME]");
  return {key, setting_text(value, where, setting->separator), where};
}

std::optional<int> parse_helper(const std::string& text) {
  if (text == "auto") return std::nullopt;
  return parse_integer(text, 0);
}

/// The campaign's own keys, by name; false for others.
bool take_own(Campaign& campaign, Parsed& parsed, const std::string& key, const toml::node& value, const std::string& where) {
  try {
    if (key == "configurations") {
      parsed.patterns = texts_of(value, where, "[\"ensemble/lat.*\"]");
      parsed.patterns_where = where;
    } else if (key == "sources") {
      campaign.sources_where = where;
      for (const std::string& text : texts_of(value, where, "[\"point:0,0,0,0\"]")) {
        const Source source = parse_source(text);
        const auto same = [&](const Source& other) { return quarkstar::text_of(other) == quarkstar::text_of(source); };
        if (std::any_of(campaign.sources.begin(), campaign.sources.end(), same))
          throw BadValue(fmt::format("{} is given twice", text), "give each source once");
        campaign.sources.push_back(source);
      }
    } else if (key == "out") {
      campaign.out = setting_text(value, where);
      if (campaign.out.empty()) throw BadValue("no name", "name a folder");
    } else if (key == "propagators") {
      campaign.propagators = parse_switch(setting_text(value, where));
    } else if (key == "bin") {
      campaign.bin = parse_integer(setting_text(value, where), 1);
    } else if (key == "grace") {
      campaign.grace = parse_integer(setting_text(value, where), 0);
    } else if (key == "helper") {
      campaign.helper = parse_helper(setting_text(value, where));
      campaign.helper_where = where;
    } else {
      return false;
    }
  } catch (const BadValue& bad) {
    refuse(where, bad.what(), bad.allowed());
  }
  return true;
}

/// The tables [quark.NAME], or [hadron.NAME].
void for_named_tables(const std::string& file, const std::string& kind, const toml::node& tables, unsigned line,
                      const std::function<void(const std::string& name, const std::string& where, const toml::table& settings)>& use) {
  const auto where_is = [&](unsigned at, const std::string& name) { return fmt::format("{}:{}: {}.{}", file, at, kind, name); };
  in_order(table_of(tables, where_is(line, "NAME")), [&](const std::string& name, const toml::node& settings, unsigned at) {
    const std::string where = where_is(at, name);
    if (name.empty() || name.find('/') != std::string::npos)
      refuse(where, "this name has a slash, or no letter", "results are in groups of this name: use letters and digits");
    if (!settings.is_table()) refuse(where, fmt::format("a {} has a name", kind), fmt::format("write [{}.NAME] above its keys", kind));
    use(name, where, *settings.as_table());
  });
}

Parsed parse(Campaign& campaign) {
  Parsed parsed;
  const toml::table file = parse_toml(campaign.file, howto_page);
  const auto where_is = [&](unsigned line, const std::string& key) { return fmt::format("{}:{}: {}", campaign.file, line, key); };
  in_order(file, [&](const std::string& key, const toml::node& value, unsigned line) {
    const std::string where = where_is(line, key);
    if (key == "quark") {
      for_named_tables(campaign.file, key, value, line, [&](const std::string& name, const std::string& place, const toml::table& table) {
        Parsed::QuarkTable quark{name, place, {}};
        in_order(table, [&](const std::string& k, const toml::node& v, unsigned l) {
          quark.settings.push_back(setting_in(k, v, where_is(l, fmt::format("quark.{}.{}", name, k)), true));
        });
        parsed.quarks.push_back(std::move(quark));
      });
    } else if (key == "hadron") {
      for_named_tables(campaign.file, key, value, line, [&](const std::string& name, const std::string& place, const toml::table& table) {
        parsed.hadrons.push_back(read_hadron(name, place, campaign.file, table));
      });
    } else if (!take_own(campaign, parsed, key, value, where)) {
      parsed.common.push_back(setting_in(key, value, where, false));
    }
  });
  return parsed;
}

/// The files that a pattern of the shell stands for, by name, where lat.2 comes before lat.10: neighbours may be binned.
std::vector<std::string> files_like(const std::string& pattern, const std::string& where) {
  glob_t found{};
  const int code = ::glob(pattern.c_str(), GLOB_TILDE, nullptr, &found);
  std::vector<std::string> files;
  for (std::size_t i = 0; i < found.gl_pathc; ++i)
    if (!std::filesystem::is_directory(found.gl_pathv[i])) files.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  std::sort(files.begin(), files.end(), [](const std::string& a, const std::string& b) { return ::strverscmp(a.c_str(), b.c_str()) < 0; });
  if (code != 0 || files.empty())
    refuse(where, fmt::format("no file is called '{}'", pattern), "check the path, which begins in the folder where the command runs");
  return files;
}

std::vector<Configuration> configurations_of(const Parsed& parsed) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  std::string lines;
  job.on_root([&] {
    for (const std::string& pattern : parsed.patterns)
      for (const std::string& file : files_like(pattern, parsed.patterns_where)) lines += file + "\n";
  });
  lines = job.broadcast(lines);
  lines.pop_back();
  std::vector<Configuration> configurations;
  for (const std::string& path : split(lines, '\n')) {
    const std::string name = std::filesystem::path(path).filename().string();
    const auto same = std::find_if(configurations.begin(), configurations.end(), [&](const Configuration& c) { return c.name == name; });
    if (same == configurations.end()) configurations.push_back({name, path});
    else if (same->path != path)
      refuse(parsed.patterns_where, fmt::format("two configurations are called {}: {} and {}", name, same->path, path),
             "results are in a file of that name: rename one, or make two campaigns");
  }
  return configurations;
}

/// Names above the quarks are for all of them, and for hadrons: each takes those that it has.
void choose_correlators(const std::vector<Table*>& tables, const Parsed& parsed) {
  const auto common = std::find_if(parsed.common.begin(), parsed.common.end(), [](const Assignment& a) { return a.key == "correlators"; });
  if (common == parsed.common.end()) return;
  for (const std::string& name : split(common->value, ',')) {
    const auto has = [&](const Table* table) { return has_correlator(table->families, name); };
    if (std::none_of(tables.begin(), tables.end(), has))
      refuse(common->where,
             fmt::format("'{}' is no correlator of any of these quarks{}", name, parsed.hadrons.empty() ? "" : " or hadrons"),
             "docs/usage.md lists them, and their families");
  }
  for (Table* table : tables) {
    if (*place_of(*table, "correlators") != common->where) continue;  // it has its own
    std::erase_if(table->config.correlators.names, [&](const std::string& name) { return !has_correlator(table->families, name); });
    if (!table->config.correlators.names.empty()) continue;
    const std::string of = table->kind == "hadron" ? "of its two quarks" : fmt::format("of the action {}", table->config.action->name);
    refuse(table->where, fmt::format("none of {} is a correlator {}", common->value, of),
           fmt::format("give this {} `correlators` of its own", table->kind));
  }
}

/// Whether the bits of a right-hand side depend on those beside it.
bool mixes_vectors(const RunConfig& config) { return find_krylov_solver(config.solver.solver)->mixes_vectors; }

void check(Quark& quark) {
  RunConfig& config = quark.config;
  at_place_of(quark, [&] {
    complete(config);
    if (config.action->has_own_links(config.settings))
      throw Error(ErrorKind::input, Parameter(config.action->link_files.front()), "a campaign makes links of its configurations",
                  "leave it out, or use `quarkstar solve` for links from files");
    RunConfig with_files = config;
    with_files.gauge = with_files.out = "of each configuration";
    check_complete(with_files);
    if (mixes_vectors(config) && config.action->components % config.nrhs != 0)
      throw Error(ErrorKind::input, Parameter("nrhs"),
                  fmt::format("with {} the bits of a source would depend on the one beside it, of which {} columns are in its groups",
                              config.solver.solver, config.nrhs),
                  fmt::format("use {}, the columns of one source, or a part of them", config.action->components));
  });
  const auto is_given_mass = [&](const Setting& s) { return config.action->states_mass(s.key) && place_of(quark, s.key) != nullptr; };
  if (std::none_of(run_settings().begin(), run_settings().end(), is_given_mass))
    refuse(quark.where, "it has no mass", fmt::format("give it `{}`", config.action->mass_key));
}

/// One file of eigenvectors cannot be of several configurations.
void check_deflation(const Campaign& campaign, const Quark& quark) {
  const std::string file = deflation_file(quark.config);
  if (file.empty() || campaign.configurations.size() < 2 || file.find('*') != std::string::npos) return;
  const std::string* place = place_of(quark, "deflate");
  refuse(place != nullptr ? *place : quark.where,
         fmt::format("'{}' is of one configuration, and there are {}", file, campaign.configurations.size()),
         "write * for the configuration's name, as in deflate = \"modes/*.h5\"");
}

/// The file or folder of one configuration.
std::string with_name(std::string pattern, const std::string& name) {
  for (std::size_t at = 0; (at = pattern.find('*', at)) != std::string::npos; at += name.size()) pattern.replace(at, 1, name);
  return pattern;
}

std::string null_vectors_of(const Quark& quark, const Configuration& configuration) {
  return fmt::format("{}/{}.{}", quark.config.multigrid_setup, configuration.name, quark.name);
}

/// Whether null vectors of one serve the other to begin with.
bool shares_null_vectors(const Quark& a, const Quark& b) {
  return a.config.multigrid_setup == b.config.multigrid_setup && a.config.action == b.config.action && a.config.solver.multigrid &&
         b.config.solver.multigrid && a.config.solver.multigrid->null_vectors == b.config.solver.multigrid->null_vectors;
}

const Configuration* before(const Campaign& campaign, const Configuration& configuration) {
  const auto at = std::find_if(campaign.configurations.begin(), campaign.configurations.end(),
                               [&](const Configuration& c) { return c.name == configuration.name; });
  return at == campaign.configurations.begin() || at == campaign.configurations.end() ? nullptr : &*std::prev(at);
}

}  // namespace

RunConfig config_on(const Campaign& campaign, const Quark& quark, const Configuration& configuration) {
  RunConfig config = quark.config;
  config.gauge = configuration.path;
  if (const std::string modes = deflation_file(config); !modes.empty()) set_deflation_file(config, with_name(modes, configuration.name));
  if (config.multigrid_setup.empty()) return config;
  config.multigrid_setup = null_vectors_of(quark, configuration);
  std::vector<std::string> starts;
  for (const Quark& other : campaign.quarks) {
    if (other.name == quark.name) break;
    if (shares_null_vectors(other, quark)) starts.insert(starts.begin(), null_vectors_of(other, configuration));  // the last one first
  }
  if (const Configuration* const last = before(campaign, configuration)) starts.push_back(null_vectors_of(quark, *last));
  starts.push_back(config.multigrid_setup);  // left by other settings or an earlier version
  set_null_vector_starts(config, starts);
  return config;
}

std::vector<std::string> null_vectors_behind(const Campaign& campaign, const Configuration& configuration) {
  std::vector<std::string> folders;
  if (const Configuration* const last = before(campaign, configuration))
    for (const Quark& quark : campaign.quarks)
      if (!quark.config.multigrid_setup.empty()) folders.push_back(null_vectors_of(quark, *last));
  return folders;
}

void refuse(const std::string& where, const std::string& what, const std::string& remedy) {
  throw Error(ErrorKind::input, where, what, remedy);
}

void at_place_of(const Table& table, const std::function<void()>& check) {
  try {
    check();
  } catch (const Error& error) {
    const std::string message = with_keys(error.what());
    if (error.parameter().empty() && message == error.what()) throw;
    const auto raise = [&](const std::string& where, const std::string& what) {
      if (dynamic_cast<const runtime::mpi::SharedError*>(&error) != nullptr) throw runtime::mpi::SharedError(error.kind(), where, what, "");
      throw Error(error.kind(), where, what, "");
    };
    if (error.parameter().empty()) raise("", message);  // it knows its place
    const std::string* place = place_of(table, error.parameter());
    const bool named = place != nullptr && message.starts_with(error.parameter() + ": ");
    raise(place != nullptr ? *place : table.where, named ? message.substr(error.parameter().size() + 2) : message);
  }
}

std::string with_keys(std::string_view message) {
  std::string text;
  while (!message.empty()) {
    const std::size_t flag = std::min(message.find("--"), message.size()), name = std::min(flag + 2, message.size()),
                      end = std::min(message.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", name), message.size());
    const std::string_view key = message.substr(name, end - name);
    text += message.substr(0, flag);
    if (!key.empty() && find_setting(key) != nullptr) text += fmt::format("`{}`", key);
    else text += message.substr(flag, end - flag);
    message.remove_prefix(end);
  }
  return text;
}

bool is_of_whole_campaign(std::string_view key) { return std::find(of_whole.begin(), of_whole.end(), key) != of_whole.end(); }

bool changes_no_bit(std::string_view key, const RunConfig& quark) {
  constexpr std::string_view keys[] = {"in-flight", "max-iterations", "check-every", "no-tune"};
  return (key == "nrhs" && !mixes_vectors(quark)) || std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

const std::string* place_of(const Table& table, std::string_view key) {
  const auto& given = table.config.given;
  const auto last = std::find_if(given.rbegin(), given.rend(), [key](const auto& setting) { return setting.first == key; });
  return last == given.rend() ? nullptr : &last->second;
}

std::vector<const Table*> Campaign::tables() const {
  std::vector<const Table*> all;
  for (const Quark& quark : quarks) all.push_back(&quark);
  for (const Hadron& hadron : hadrons) all.push_back(&hadron);
  return all;
}

std::string Campaign::propagator_of(const Row& row) const {
  std::string name = fmt::format("{}.{}.{}.h5", row.configuration, row.quark, row.source);
  std::replace(name.begin(), name.end(), ':', '-');
  return out + "/propagators/" + name;
}

bool has_correlator(const std::vector<std::string_view>& families, std::string_view name) {
  for (const contract::Family& family : contract::families()) {
    if (std::find(families.begin(), families.end(), family.name) == families.end()) continue;
    if (family.word() == name) return true;
    for (const contract::Channel& channel : family.channels)
      if (channel.name == name || channel.group == name) return true;
  }
  return false;
}

Campaign read_campaign(const std::string& path, const std::vector<Assignment>& overriding) {
  Campaign campaign;
  campaign.file = path;
  const Parsed parsed = parse(campaign);
  std::vector<Assignment> of_solves;
  for (const Assignment& setting : overriding)
    if (setting.key == "out") {
      campaign.out = setting.value;
    } else if (setting.key == "helper") {
      try {
        campaign.helper = parse_helper(setting.value);
        campaign.helper_where = setting.where;
      } catch (const BadValue& bad) {
        refuse(setting.where, bad.what(), bad.allowed());
      }
    } else {
      of_solves.push_back(setting);
    }
  if (parsed.patterns.empty()) refuse(path, "no configurations are named", "give them as configurations = [\"ensemble/lat.*\"]");
  if (campaign.out.empty()) refuse(path, "nowhere to write the results", "name a folder as out = \"results\"");
  if (campaign.sources.empty()) refuse(path, "no sources are given", "give them as sources = [\"point:0,0,0,0\"]");
  if (parsed.quarks.empty()) refuse(path, "there is no quark", "describe one in a table [quark.light], with its action and mass");
  for (const Parsed::QuarkTable& table : parsed.quarks) {
    Quark& quark = campaign.quarks.emplace_back(Quark{{"quark", table.name, table.where, {}}});
    apply_settings(quark.config, parsed.common);
    apply_settings(quark.config, table.settings);
    apply_settings(quark.config, of_solves);
    quark.config.propagators = campaign.propagators;
    quark.config.source = campaign.sources.front();
    quark.config.further_sources.assign(campaign.sources.begin() + 1, campaign.sources.end());
    quark.families = quark.config.action->correlators;
  }
  for (const HadronTable& table : parsed.hadrons) campaign.hadrons.push_back(make_hadron(table, campaign, parsed.common));
  std::vector<Table*> tables;
  for (Quark& quark : campaign.quarks) tables.push_back(&quark);
  for (Hadron& hadron : campaign.hadrons) tables.push_back(&hadron);
  choose_correlators(tables, parsed);
  for (Quark& quark : campaign.quarks) check(quark);
  for (Hadron& hadron : campaign.hadrons) check_hadron(hadron, campaign.sources);
  tell_quarks_of_hadrons(campaign);
  campaign.configurations = configurations_of(parsed);
  for (const Quark& quark : campaign.quarks) check_deflation(campaign, quark);
  return campaign;
}

}  // namespace quarkstar::app::campaign
