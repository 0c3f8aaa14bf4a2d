#include "apps/command/config.hpp"

#include "apps/command/parse.hpp"
#include "apps/run/action_kind.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "runtime/system/error.hpp"
#include "solvers/krylov/krylov.hpp"
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
  if (const auto mass = given("mass"); mass != settings.end() && given("kappa") != settings.end() && kind_of(config).knows("kappa"))
    throw Error(ErrorKind::input, mass->where, "mass and kappa are both given", "give one: kappa = 1 / (2 (mass + 4))");
}

bool applies(const Setting& setting, const RunConfig& config) {
  const std::vector<const ActionKind*>& kinds = action_kinds();
  const bool of_some = std::any_of(kinds.begin(), kinds.end(), [&](const ActionKind* kind) { return kind->knows(setting.key); });
  return !of_some || kind_of(config).knows(setting.key);
}

std::vector<std::pair<std::string_view, nlohmann::json>> parameters_of(const RunConfig& config) {
  std::vector<std::pair<std::string_view, nlohmann::json>> parameters;
  for (const Setting& field : run_settings())
    if (applies(field, config)) parameters.emplace_back(field.key, field.get(config));
  return parameters;
}

void complete(RunConfig& config) {
  config.solver.snapshots = !config.checkpoint.empty();
  const ActionKind& kind = kind_of(config);
  const std::vector<std::string> solvers = solver_names(kind.is_hermitian);
  if (!config.was_given("solver") && std::find(solvers.begin(), solvers.end(), config.solver.solver) == solvers.end())
    config.solver.solver = solvers.front();
  if (!config.was_given("columns")) std::erase_if(config.columns, [&](int column) { return column >= kind.components; });
  if (config.nrhs == 0) config.nrhs = kind.components;
  // No more in flight than there is to solve: groups of right-hand sides, or operators.
  const auto operators = operators_of(config);
  const std::size_t solves = operators.size() > 1 ? operators.size() : groups_of(config, operators.front()).size();
  config.solver.in_flight = std::clamp(static_cast<int>(solves), 1, config.solver.in_flight);
}

namespace {

void refuse(const std::string& flag, const std::string& what, const std::string& remedy) {
  throw Error(ErrorKind::input, flag, what, remedy);
}

void require_name(const char* flag, const std::string& action, const std::string& value, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), value) == names.end())
    refuse(flag, fmt::format("'{}' is not for the action {}", value, action), fmt::format("use one of {}", fmt::join(names, ", ")));
}

/// What the settings of the action and of the solver exclude.
void check_action(const RunConfig& config) {
  for (const auto& [key, where] : config.given)
    if (!applies(*find_setting(key), config))
      throw Error(ErrorKind::input, where, fmt::format("{} means nothing for the action {}", key, config.action),
                  "leave it out, or give another --action");
  const ActionKind& kind = kind_of(config);
  require_name("--solver", config.action, config.solver.solver, solver_names(kind.is_hermitian));
  std::vector<std::string> forms;
  for (const int reals : kind.link_reals) forms.push_back(fmt::format("{}", reals));
  require_name("--links", config.action, fmt::format("{}", config.solver.link_reals), forms);
  for (const int column : config.columns)
    if (column >= kind.components)
      refuse("--columns", fmt::format("the action {} has no column {}", config.action, column),
             fmt::format("use columns from 0 to {}", kind.components - 1));
  const NamedKrylovSolver& solver = *find_krylov_solver(config.solver.solver);
  for (const auto& [key, fits] : {std::pair{"restart", solver.fields_a_direction > 0}, {"schwarz-block", solver.flexible}})
    if (config.was_given(key) && !fits)
      refuse(fmt::format("--{}", key), fmt::format("it means nothing for {}", solver.name), "use --solver gcr, or leave it out");
  if (!solver.reliable_updates && !solver.shifted)
    for (const char* key : {"updates", "refresh-drop"})
      if (config.was_given(key) && (config.solver.updates == Updates::reliable || key != std::string_view("updates")))
        refuse(fmt::format("--{}", key), fmt::format("{} has no reliable updates, it restarts", solver.name),
               "leave it out, or use --solver cg");
  kind.check(config);
}

}  // namespace

void check_complete(const RunConfig& config) {
  check_action(config);
  if (config.gauge.empty() && !kind_of(config).has_own_links(config))
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
