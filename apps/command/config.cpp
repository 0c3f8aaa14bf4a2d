#include "apps/command/config.hpp"

#include "apps/command/parse.hpp"
#include "apps/run/staggered_batches.hpp"
#include "codelets/gauge/smear/staggered_links.hpp"
#include "runtime/system/error.hpp"
#include "solvers/solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace quarkstar::app {

const Setting* find_setting(std::string_view key) {
  const std::vector<Setting>& fields = run_settings();
  const auto field = std::find_if(fields.begin(), fields.end(), [key](const Setting& f) { return f.key == key; });
  return field == fields.end() ? nullptr : &*field;
}

std::vector<Source> RunConfig::all_sources() const {
  std::vector<Source> sources{source};
  sources.insert(sources.end(), further_sources.begin(), further_sources.end());
  return sources;
}

RunConfig of_source(const RunConfig& config, std::size_t i) {
  RunConfig one = config;
  if (config.further_sources.empty()) return one;
  one.source = config.all_sources().at(i);
  one.further_sources.clear();
  const std::string name = fmt::format("source{}", i);
  for (std::string* folder : {&one.out, &one.checkpoint})
    if (!folder->empty()) *folder += "/" + name;
  if (const std::filesystem::path file(config.json); !config.json.empty())
    one.json = (file.parent_path() / fmt::format("{}.{}{}", file.stem().string(), name, file.extension().string())).string();
  return one;
}

void apply_settings(RunConfig& config, const std::vector<Assignment>& settings) {
  const auto given = [&](std::string_view key) {
    return std::find_if(settings.begin(), settings.end(), [key](const Assignment& a) { return a.key == key; });
  };
  if (const auto mass = given("mass"); mass != settings.end() && given("masses") != settings.end())
    throw Error(ErrorKind::input, mass->where, "mass and masses are both given", "give one, or all of them as masses");
  for (const Assignment& setting : settings) {
    config.given.emplace_back(setting.key, setting.where);
    try {
      find_setting(setting.key)->set(config, setting.value);
    } catch (const BadValue& bad) {
      throw Error(ErrorKind::input, setting.where, bad.what(), bad.allowed());
    }
  }
  // Of staggered actions kappa is refused by itself.
  if (const auto mass = given("mass"); mass != settings.end() && given("kappa") != settings.end() && !config.is_staggered())
    throw Error(ErrorKind::input, mass->where, "mass and kappa are both given", "give one: kappa = 1 / (2 (mass + 4))");
}

std::vector<std::pair<std::string_view, nlohmann::json>> parameters_of(const RunConfig& config) {
  std::vector<std::pair<std::string_view, nlohmann::json>> parameters;
  for (const Setting& field : run_settings())
    if (field.applies(config)) parameters.emplace_back(field.key, field.get(config));
  return parameters;
}

void complete(RunConfig& config) {
  config.solver.snapshots = !config.checkpoint.empty();
  if (config.is_staggered()) {
    if (!config.was_given("solver")) config.solver.solver = "cg";
    if (!config.was_given("columns")) config.columns = {0, 1, 2};
  }
  if (config.nrhs == 0) config.nrhs = config.is_staggered() ? 3 : 12;
  // No more in flight than there is to solve: groups of right-hand sides, or masses that have an operator each.
  const StaggeredConfig& staggered = config.staggered;
  std::size_t solves = column_groups(config).size() * (1 + config.further_sources.size());
  if (config.is_staggered())
    solves = staggered.naik_epsilon || staggered.from_files() ? staggered_batches(config).size() : staggered.masses.size();
  config.solver.in_flight = std::clamp(static_cast<int>(solves), 1, config.solver.in_flight);
}

namespace {

void refuse(const char* flag, const std::string& what, const std::string& remedy) { throw Error(ErrorKind::input, flag, what, remedy); }

void require_name(const char* flag, const std::string& action, const std::string& value, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), value) == names.end())
    refuse(flag, fmt::format("'{}' is not for the action {}", value, action), fmt::format("use one of {}", fmt::join(names, ", ")));
}

/// Links from files have everything in them that makes links.
void check_links_files(const RunConfig& config) {
  const StaggeredConfig& staggered = config.staggered;
  if (staggered.fat.empty() != staggered.long_links.empty())
    refuse(staggered.fat.empty() ? "--fat" : "--long", fmt::format("{} links are given alone", staggered.fat.empty() ? "long" : "fat"),
           "give both --fat and --long");
  if (!staggered.from_files()) return;
  if (!config.hops_far())
    refuse("--fat", fmt::format("the action {} has no fat links", config.action), "use --action hisq or asqtad, or --gauge");
  for (const auto& [key, where] : config.given)
    for (const char* maker : {"gauge", "lattice", "reunitarize", "naik-epsilon", "u0"})
      if (key == maker)
        throw Error(ErrorKind::input, where,
                    fmt::format("{} is for links that are made of a configuration, but --fat and --long give links", key),
                    "leave it out, or leave out --fat and --long");
}

/// What the settings of one action exclude.
void check_action(const RunConfig& config) {
  for (const auto& [key, where] : config.given)
    if (!find_setting(key)->applies(config))
      throw Error(ErrorKind::input, where, fmt::format("{} means nothing for the action {}", key, config.action),
                  "leave it out, or give another --action");
  const std::string links = fmt::format("{}", config.solver.link_reals);
  if (!config.is_staggered()) {
    require_name("--solver", config.action, config.solver.solver, solver_names(false));
    require_name("--links", config.action, links, {"18", "12", "8"});
    if (config.was_given("schwarz-steps") && !config.was_given("schwarz-block"))
      refuse("--schwarz-steps", "no domains are given", "give --schwarz-block, e.g. 4,4,4,4");
    for (const char* key : {"restart", "schwarz-block"})
      if (config.was_given(key) && config.solver.solver != "gcr")
        refuse(key == std::string_view("restart") ? "--restart" : "--schwarz-block",
               fmt::format("it means nothing for {}", config.solver.solver), "use --solver gcr, or leave it out");
    return;
  }
  const StaggeredConfig& staggered = config.staggered;
  require_name("--solver", config.action, config.solver.solver, solver_names(true));
  if (config.action == "naive" && config.solver.link_reals != 18)
    refuse("--links", "it is for long links, and the action naive has none", "leave it out");
  require_name("--links", config.action, links, {"18", "14", "13", "9"});
  for (const int column : config.columns)
    if (column >= 3) refuse("--columns", fmt::format("column {} is no colour", column), "staggered fields have the columns 0, 1, 2");
  for (const char* key : {"updates", "refresh-drop"})
    if (config.solver.solver == "blockcg" && config.was_given(key) &&
        (config.solver.updates == Updates::reliable || key != std::string_view("updates")))
      refuse(key == std::string_view("updates") ? "--updates" : "--refresh-drop", "blockcg has no reliable updates, it restarts",
             "leave it out, or use --solver cg");
  for (const double mass : staggered.masses)
    if (!(mass > 0)) refuse("--mass", fmt::format("{} is not positive", mass), "give a mass above 0: the even-odd system divides by it");
  check_links_files(config);
  if (!staggered.from_files() && (config.action == "asqtad") != staggered.u0.has_value())
    refuse("--u0", config.action == "asqtad" ? "asqtad needs a tadpole factor" : fmt::format("{} has no tadpole factor", config.action),
           config.action == "asqtad" ? "give it, e.g. --u0 0.87, or --u0 1" : "leave it out, or use --action asqtad");
  if (config.action != "hisq" && staggered.naik_epsilon != 0.0)
    refuse("--naik-epsilon", "only HISQ has an epsilon", "leave it out, or use --action hisq");
  if (config.action == "hisq" && staggered.naik_epsilon) smear::check_naik_epsilon(*staggered.naik_epsilon);
  if (config.action == "hisq" && !staggered.naik_epsilon)
    for (const double mass : staggered.masses) smear::naik_epsilon_of_mass(mass);  // throws where the series has no answer
  if (config.solver.solver == "multishift" && !staggered.naik_epsilon)
    refuse("--naik-epsilon", "multishift needs one operator for all masses", "give one epsilon, or use --solver cg");
}

}  // namespace

void check_complete(const RunConfig& config) {
  check_action(config);
  if (config.gauge.empty() && !config.staggered.from_files())
    throw Error(ErrorKind::input, "--gauge", "no gauge configuration given", "name a file, or make one with `quarkstar gauge generate`");
  if (config.out.empty() && config.json.empty())
    throw Error(ErrorKind::input, "--out", "nowhere to write the results", "give --out DIR, --json FILE or both");
  if (config.checkpoint_every > 0 && config.checkpoint.empty())
    throw Error(ErrorKind::input, "--checkpoint-every", "nowhere to write restart files", "give --checkpoint DIR");
  if (config.bound && config.solver.in_flight > 1)
    throw Error(ErrorKind::input, "--bound", "the bounds are of one solve, and several are in flight together",
                "leave it out, or use --in-flight 1");
}

}  // namespace quarkstar::app
