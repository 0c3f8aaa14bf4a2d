#include "apps/run/config.hpp"

#include "apps/run/check_action.hpp"
#include "apps/run/eigen_file.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/report.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "codelets/actions/action_kind.hpp"
#include "runtime/system/error.hpp"
#include "solvers/eigen/low_mode_average.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/multigrid/choice.hpp"
#include "solvers/solver_choice.hpp"

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

const Setting& setting_named(std::string_view key, const std::string& where) {
  if (const Setting* field = find_setting(key)) return *field;
  std::vector<std::string> keys;
  for (const Setting& field : run_settings()) keys.emplace_back(field.key);
  throw Error(ErrorKind::input, where, "unknown key", use_one_of(key, keys));
}

std::vector<Source> RunConfig::all_sources() const {
  std::vector<Source> sources{source};
  sources.insert(sources.end(), further_sources.begin(), further_sources.end());
  return sources;
}

std::vector<QuarkSmearing> RunConfig::smearings() const {
  std::vector<Sink> all = sinks;
  all.insert(all.end(), hadron_sinks.begin(), hadron_sinks.end());
  for (const Source& one : all_sources()) all.push_back(one.smearing);
  return smearings_of(all);
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

void set_value(SettingValues& values, const ActionSetting& setting, SettingValue value) {
  values.insert_or_assign(std::string(setting.key), std::move(value));
  if (setting.implies != nullptr) setting.implies(values);
}

void apply_settings(RunConfig& config, const std::vector<Assignment>& settings) {
  for (const Assignment& setting : settings) {
    const Setting& field = setting_named(setting.key, setting.where);
    config.given.emplace_back(setting.key, setting.where);
    try {
      field.set(config, setting.value);
    } catch (const BadValue& bad) {
      throw Error(ErrorKind::input, setting.where, bad.what(), bad.allowed());
    }
  }
  const auto given = [&](std::string_view key) {
    return std::find_if(settings.begin(), settings.end(), [key](const Assignment& a) { return a.key == key; });
  };
  for (const ActionSetting& setting : config.action->settings)
    if (const auto other = given(setting.instead_of); other != settings.end() && given(setting.key) != settings.end())
      throw Error(ErrorKind::input, other->where, fmt::format("{} and {} are both given", other->key, setting.key),
                  "give one: they say the same");
}

bool applies(const Setting& setting, const RunConfig& config) {
  const std::vector<const ActionKind*>& kinds = action_kinds();
  const bool of_some = std::any_of(kinds.begin(), kinds.end(), [&](const ActionKind* kind) { return kind->knows(setting.key); });
  return !of_some || config.action->knows(setting.key);
}

std::vector<std::pair<std::string_view, nlohmann::json>> parameters_of(const RunConfig& config) {
  std::vector<std::pair<std::string_view, nlohmann::json>> parameters;
  for (const Setting& field : run_settings())
    if (applies(field, config)) parameters.emplace_back(field.key, field.get(config));
  return parameters;
}

void complete(RunConfig& config) {
  config.solver.snapshots = !config.checkpoint.empty();
  const ActionKind& kind = *config.action;
  const std::vector<std::string> solvers = solver_names(kind.is_hermitian);
  if (!config.was_given("solver") &&
      (config.solver.solver == SolverSettings{}.solver || std::find(solvers.begin(), solvers.end(), config.solver.solver) == solvers.end()))
    config.solver.solver = kind.bench_solvers.front();
  if (find_krylov_solver(config.solver.solver)->multigrid && !config.solver.multigrid) config.solver.multigrid.emplace();
  if (!config.was_given("columns")) std::erase_if(config.columns, [&](int column) { return column >= kind.components; });
  constexpr int usual_nrhs = 12;  // the columns of a spinor: on GPUs and CPUs more gain little
  if (config.nrhs == 0)
    config.nrhs = find_krylov_solver(config.solver.solver)->mixes_vectors ? kind.components : std::max(kind.components, usual_nrhs);
  config.nrhs = std::min(config.nrhs, std::max(1, most_vectors / std::max(1, kind.slices(config.settings))));
  // No more in flight than there is to solve: groups of right-hand sides, or operators.
  const auto operators = operators_of(config);
  const std::size_t solves = operators.size() > 1 ? operators.size() : groups_of(config, operators.front()).size();
  config.solver.in_flight = std::clamp(static_cast<int>(solves), 1, config.solver.in_flight);
}

namespace {

void refuse(std::string_view key, const std::string& what, const std::string& remedy) {
  throw Error(ErrorKind::input, Parameter(key), what, remedy);
}

void require_name(std::string_view key, const ActionKind& kind, const std::string& value, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), value) == names.end())
    refuse(key, fmt::format("'{}' is not for the action {}", value, kind.name), fmt::format("use one of {}", fmt::join(names, ", ")));
}

/// Hops over one link mix the tastes of staggered quarks, and files of fat and long links have none over one link that is SU(3).
void check_smearings(const RunConfig& config) {
  const ActionKind& kind = *config.action;
  if (config.smearings().empty() || kind.components == spinor_components) return;
  const bool sinks = !smearings_of(config.sinks).empty();
  refuse(sinks ? "sinks" : "source",
         fmt::format("{} is for spinors: hops over one link mix the tastes of the action {}", sinks ? "smearing" : "a smeared source",
                     kind.name),
         sinks ? "use point sinks for it" : "use another source for it");
}

void check_three_points(const RunConfig& config) {
  const ActionKind& kind = *config.action;
  const ThreePointSettings& wanted = config.three_points;
  for (const char* key : {"currents", "current-momenta"})
    if (wanted.hadrons.empty() && config.was_given(key))
      refuse(key, "it is of three-point functions", "give --three-points, or leave it out");
  if (wanted.hadrons.empty()) return;
  if (kind.currents.empty())
    refuse("three-points", fmt::format("the action {} has none", kind.name), "leave it out, or give another --action");
  for (const contract::HadronSink& sink : wanted.hadrons)
    if (std::find(kind.correlators.begin(), kind.correlators.end(), sink.hadron->family) == kind.correlators.end())
      refuse("three-points", fmt::format("the action {} has no {}", kind.name, sink.hadron->name), "use pion");
  (void)contract::choose(kind.currents, wanted.currents, "currents");
  if (!has_all_columns(config)) refuse("columns", fmt::format("three-point functions need all {}", kind.components), "leave it out");
  if (const std::string obstacle = kind.obstacle_to_sequential(config.settings); !obstacle.empty())
    refuse("three-points", obstacle, "give other coefficients, or leave it out");
  const std::vector<double> masses = config.masses();
  if (std::all_of(masses.begin(), masses.end(), [&kind](double mass) { return kind.sequential_mass(mass) == mass; })) return;
  const std::string what = fmt::format("sequential propagators of the action {} are of the opposite {}", kind.name, kind.mass_key);
  if (!kind.masses_share_links(config.settings))
    refuse("three-points", what + ", for which there is no operator here", "leave out csw, or the three-point functions");
  if (!deflation_file(config).empty())
    refuse("three-points", what + ", of which the eigenvectors are none", "leave out deflate, or the three-point functions");
  if (config.solver.recycle > 0)
    refuse("three-points", what + ", and modes that are gathered of one serve the other nothing",
           "leave out recycle, or the three-point functions");
  if (config.solver.multigrid || find_krylov_solver(config.solver.solver)->multigrid)
    refuse("three-points", what + ", for which this multigrid is none", "use --solver bicgstab, or leave out the three-point functions");
}

/// Of points alone mesons are known from everywhere.
void check_low_mode_average(const RunConfig& config) {
  if (!config.low_mode_average) return;
  constexpr std::string_view key = "low-mode-average";
  const ActionKind& kind = *config.action;
  if (kind.slices(config.settings) > 1)
    refuse(key, fmt::format("the action {} has a fifth dimension, and mesons are of four", kind.name), "leave it out");
  if (deflation_file(config).empty())
    refuse(key, "there are no modes", "give --deflate the file that `quarkstar eigen` writes, or leave it out");
  for (const Source& source : config.all_sources())
    if (source.kind != Source::Kind::point || source.smearing)
      refuse(key, fmt::format("it is for points, and a source is {}", text_of(source)), "use point sources, or leave it out");
  const auto& momenta = config.correlators.momenta;
  if (std::find(momenta.begin(), momenta.end(), contract::Momentum{}) == momenta.end())
    refuse(key, "it is for momentum zero, which is none of the momenta", "add 0,0,0 to --momenta, or leave it out");
  const std::span<const contract::Channel> mesons = low_mode_channels(kind.components);
  const std::vector<contract::Choice> wanted = contract::choose(kind.correlators, config.correlators.names);
  if (std::none_of(wanted.begin(), wanted.end(), [&](const contract::Choice& c) { return c.family->channels.data() == mesons.data(); }))
    refuse(key, "it is for mesons, and none of the correlators is one of these",
           fmt::format("add one to --correlators, e.g. {}, or leave it out", mesons.front().name));
  if (std::all_of(config.sinks.begin(), config.sinks.end(), [](const Sink& sink) { return sink.has_value(); }))
    refuse(key, "it is for point sinks, and sinks are smeared", "add point to --sinks, or leave it out");
  if (!kind.is_hermitian && config.masses().size() > 1)
    refuse(key, fmt::format("modes are those of one {}, and there are {}", kind.mass_key, config.masses().size()),
           fmt::format("give one --{}", kind.mass_key));
  if (!has_all_columns(config)) refuse("columns", fmt::format("low-mode averages need all {}", kind.components), "leave it out");
}

/// Links from files have everything in them that makes links.
void check_link_files(const RunConfig& config) {
  const ActionKind& kind = *config.action;
  if (!kind.has_own_links(config.settings)) return;
  const auto missing = [&](std::string_view key) { return kind.get<std::string>(config.settings, key).empty(); };
  const std::string files = fmt::format("--{}", fmt::join(kind.link_files, " and --"));
  const auto absent = std::find_if(kind.link_files.begin(), kind.link_files.end(), missing);
  const auto present = std::find_if_not(kind.link_files.begin(), kind.link_files.end(), missing);
  if (absent != kind.link_files.end())
    refuse(*absent, fmt::format("{} links are given alone", *present), fmt::format("give both {}", files));
  constexpr std::string_view of_configurations[] = {"gauge", "lattice", "reunitarize"};
  for (const auto& [key, where] : config.given)
    if (const ActionSetting* own = kind.setting(key);
        own != nullptr ? own->makes_links
                       : std::find(std::begin(of_configurations), std::end(of_configurations), key) != std::end(of_configurations))
      throw Error(ErrorKind::input, where, fmt::format("{} is for links that are made of a configuration, but {} give links", key, files),
                  fmt::format("leave it out, or leave out {}", files));
}

/// Modes are gathered one solve after another, for those after it: what runs beside it must not decide who gets which.
void check_recycling(const RunConfig& config) {
  if (config.solver.recycle == 0) return;
  require_recyclable(config.solver, config.action->is_hermitian);
  if (!deflation_file(config).empty()) refuse("recycle", "solves begin with the eigenvectors of --deflate already", "give one of them");
  if (config.solver.in_flight > 1)
    refuse("recycle", "each solve begins with the modes of those before it, and several are in flight together", "use --in-flight 1");
  if (config.session.policy == "adaptive")
    refuse("recycle", "the policy adaptive cuts the lattice anew when time says so, and the modes are lost", "use another --policy");
}

}  // namespace

void check_applicable(const RunConfig& config) {
  for (const auto& [key, where] : config.given)
    if (!applies(*find_setting(key), config))
      throw Error(ErrorKind::input, where, fmt::format("{} means nothing for the action {}", key, config.action->name),
                  "leave it out, or give another --action");
}

void check_action(const RunConfig& config) {
  check_applicable(config);
  const ActionKind& kind = *config.action;
  require_name("solver", kind, config.solver.solver, solver_names_of(kind));
  std::vector<std::string> forms;
  for (const int reals : kind.link_reals) forms.push_back(fmt::format("{}", reals));
  require_name("links", kind, fmt::format("{}", config.solver.link_reals), forms);
  for (const int column : config.columns)
    if (column >= kind.components)
      refuse("columns", fmt::format("the action {} has no column {}", kind.name, column),
             fmt::format("use columns from 0 to {}", kind.components - 1));
  std::vector<double> masses = config.masses();
  std::sort(masses.begin(), masses.end());
  if (const auto twice = std::adjacent_find(masses.begin(), masses.end()); twice != masses.end())
    refuse(kind.mass_key, fmt::format("{} is given twice", *twice), "give each value once");
  const NamedKrylovSolver& solver = *find_krylov_solver(config.solver.solver);
  for (const auto& [key, fits] : {std::pair{"restart", solver.keeps_directions},
                                  {"schwarz-block", solver.flexible},
                                  {"inner-solver", solver.flexible},
                                  {"aggregate", solver.flexible}})
    if (config.was_given(key) && !fits)
      refuse(key, fmt::format("it means nothing for {}", solver.name), "use --solver gcr, or leave it out");
  if (config.was_given("inner-steps") && !config.was_given("inner-solver"))
    refuse("inner-steps", "no inner solver is given", "give --inner-solver, e.g. bicgstab");
  for (const char* key : {"null-vectors", "levels", "smoother-steps", "cycle-steps", "coarse-steps", "coarse-precision", "setup-steps",
                          "setup-cycles", "multigrid-setup", "no-fallback"})
    if (config.was_given(key) && !solver.multigrid && !config.was_given("aggregate"))
      refuse(key, "it is of multigrid", "use --solver multigrid, or leave it out");
  if (config.solver.multigrid) check_multigrid(*config.solver.multigrid, config.solver.precision, config.solver.schur);
  if (config.lattice) check_multigrid(config.solver, *config.lattice);
  if (!solver.reliable_updates && !solver.shifted)
    for (const char* key : {"updates", "refresh-drop"})
      if (config.was_given(key) && (config.solver.updates == Updates::reliable || key != std::string_view("updates")))
        refuse(key, fmt::format("{} has no reliable updates, it restarts", solver.name), "leave it out, or use --solver cg");
  check_recycling(config);
  if (config.was_given("schwarz-steps") && !config.was_given("schwarz-block"))
    refuse("schwarz-steps", "no domains are given", "give --schwarz-block, e.g. 4,4,4,4");
  if (solver.shifted && !kind.masses_share_links(config.settings))
    refuse("solver", fmt::format("{} needs one operator for all masses, and each has its own", solver.name),
           fmt::format("use --solver {}", solver_names(kind.is_hermitian).front()));
  for (const contract::Choice& choice : contract::choose(kind.correlators, config.correlators.names))
    if (choice.family->columns > kind.components && opposite_masses(config.masses()).empty())
      refuse("correlators", fmt::format("{} take propagators of {} and of its opposite", choice.family->name, kind.mass_key),
             fmt::format("give both, e.g. --{} 0.1,-0.1", kind.mass_key));
  if (!deflation_file(config).empty()) require_deflatable(config.solver);
  check_low_mode_average(config);
  check_smearings(config);
  check_three_points(config);
  check_link_files(config);
  kind.check(config.settings);
}

void check_complete(const RunConfig& config) {
  check_action(config);
  if (config.gauge.empty() && !config.action->has_own_links(config.settings))
    refuse("gauge", "no gauge configuration given", "name a file, or make one with `quarkstar gauge generate`");
  if (config.out.empty() && config.json.empty()) refuse("out", "nowhere to write the results", "give --out DIR, --json FILE or both");
  if (!config.propagator_files.empty() && config.out.empty())
    refuse("propagators", "there is no folder for them", "give --out DIR, or leave it out");
  if (const auto& files = config.propagator_files;
      config.action->components != spinor_components && std::find(files.begin(), files.end(), "scidac") != files.end())
    refuse("propagators", fmt::format("the SciDAC format is for spinors, and those of {} are colour vectors", config.action->name),
           "use hdf5");
  if (config.checkpoint_every > 0 && config.checkpoint.empty())
    refuse("checkpoint-every", "nowhere to write restart files", "give --checkpoint DIR");
  for (const auto& [key, given] : {std::pair{"krylov-state", config.krylov_state}, {"redundant", config.redundant}})
    if (given && config.checkpoint.empty()) refuse(key, "there are no restart files", "give --checkpoint DIR, or leave it out");
  if (config.krylov_state && config.solver.recycle > 0)
    refuse("krylov-state", "a solve also depends on modes gathered by solves before, which no file keeps",
           "leave out one of krylov-state and recycle");
  if (config.bound && config.solver.in_flight > 1)
    refuse("bound", "the bounds are of one solve, and several are in flight together", "leave it out, or use --in-flight 1");
  if (!config.graph.empty() && config.solver.in_flight > 1)
    refuse("graph", "it is of one solve, and several are in flight together", "leave it out, or use --in-flight 1");
}

}  // namespace quarkstar::app
