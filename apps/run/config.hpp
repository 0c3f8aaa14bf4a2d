#pragma once
// What a run is asked to do: one table of settings, those of actions among them, gives flags, TOML keys and the report's parameters.
#include "apps/run/session_defaults.hpp"
#include "codelets/actions/action_kind.hpp"
#include "codelets/contract/correlators.hpp"
#include "codelets/contract/sequential.hpp"
#include "runtime/graph/session.hpp"
#include "solvers/settings.hpp"

#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarkstar::app {

/// What the parts of the lattice that MPI ranks get are in proportion to.
struct RankWeights {
  /// automatic: measured where ranks own different devices, else equal.
  enum class Kind { automatic, equal, measured, given } kind = Kind::automatic;
  std::vector<double> given{};  ///< of each rank
};

/// Which three-point functions are wanted of each propagator.
struct ThreePointSettings {
  std::vector<contract::HadronSink> hadrons;           ///< none: no three-point functions
  std::vector<std::string> currents;                   ///< names, groups, families; empty: the usual ones
  std::vector<contract::Momentum> momenta{{0, 0, 0}};  ///< of the currents
};

struct RunConfig {
  std::string gauge;
  std::optional<Coord> lattice;  ///< of a bare LIME file
  bool reunitarize = false;
  const ActionKind* action = action_kinds().front();
  SettingValues settings;  ///< of actions that were given
  BoundaryAngles boundary = antiperiodic_in_time;
  Source source;
  std::vector<Source> further_sources;                             ///< others of the same run, a propagator each
  std::vector<int> columns{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};  ///< staggered: those below 3, the colours
  contract::Request correlators;
  std::vector<Sink> sinks{Sink{}};  ///< correlators are made for each
  ThreePointSettings three_points;
  std::vector<Sink> hadron_sinks{};  ///< of correlators that the caller makes of its propagators and another quark's; none: it makes none
  bool propagators = true;           ///< whether the caller wants them; correlators alone need no columns in host memory
  int nrhs = 0;                      ///< right-hand sides solved together; 0: complete() chooses
  SolverSettings solver;
  Coord blocks{0, 0, 0, 0};    ///< zeros: t cut by the number of workers
  std::optional<int> islands;  ///< that share the right-hand sides (apps/run/islands.hpp): 0: one for each device; none: chosen
  std::optional<Coord> ranks;  ///< grid of the job's ranks; none: the one with the smallest surface
  RankWeights rank_weights;
  runtime::SessionOptions session = session_defaults();
  std::size_t cpu_memory = 0;  ///< bytes that the solve may take of host memory; 0: what is available
  std::string out, json, trace;
  std::vector<std::string> propagator_files;               ///< formats in which `out` has propagators: "hdf5", "scidac"
  std::string graph, decisions;                            ///< files of the task graph of the first solve, and of what the policy decided
  std::string checkpoint;                                  ///< folder of restart files; empty: none
  std::string multigrid_setup;                             ///< folder of null vectors; empty: none
  bool low_mode_average = false;                           ///< local mesons also with the part of the deflation's modes from all sites
  int checkpoint_every = 0;                                ///< iterations; 0: only when asked for by a signal, and when a column is done
  bool krylov_state = false;                               ///< restart files hold the state of solves too
  bool redundant = false;                                  ///< restart files are PartFiles
  bool bound = false;                                      ///< compare each solve's time with lower bounds
  bool residual_history = false;                           ///< the JSON lists every residual
  std::vector<std::pair<std::string, std::string>> given;  ///< keys of the settings that were given, and where

  bool was_given(std::string_view key) const {
    return std::any_of(given.begin(), given.end(), [key](const auto& setting) { return setting.first == key; });
  }
  std::vector<double> masses() const { return action->masses(settings); }
  std::vector<Source> all_sources() const;
  /// Those of its sources and all sinks, each once.
  std::vector<QuarkSmearing> smearings() const;
};

/// The settings of the i-th of a run's sources alone; where the run has several, with a folder of its own, `source<i>`,
/// in `out` and `checkpoint`, and a file of its own, `run.source<i>.json`.
RunConfig of_source(const RunConfig& config, std::size_t i);

/// One setting. Its flag is --KEY, its TOML key KEY.
struct Setting {
  std::string_view key;
  std::string_view metavar;  ///< empty: a switch
  std::string_view help;
  std::function<void(RunConfig&, std::string_view)> set;  ///< throws BadValue
  std::function<nlohmann::json(const RunConfig&)> get;
  std::string_view separator = ",";  ///< between the parts that a list in TOML gives one by one
};

/// Every setting of a solve, in the order of the help text.
const std::vector<Setting>& run_settings();

/// Whether a setting means something for the action of `config`.
bool applies(const Setting& setting, const RunConfig& config);

/// The settings that mean something for the action of `config`, with their values: what reports list.
std::vector<std::pair<std::string_view, nlohmann::json>> parameters_of(const RunConfig& config);

/// Of every solver, each once.
std::vector<std::string> all_solver_names();
/// Those for an action: solver_names(), and solvers of shifted systems where masses shift its M^+ M.
std::vector<std::string> solver_names_of(const ActionKind& kind);

/// The setting of that key, or nullptr.
const Setting* find_setting(std::string_view key);

/// Throws Error(input) naming `where` if there is none.
const Setting& setting_named(std::string_view key, const std::string& where);

/// A setting as text, and where it was written: a flag, "run.toml:3: tol", or the key alone.
struct Assignment {
  std::string key, value, where;
};

/// Reads a TOML file: one `key = value` a field; lists and tables as in docs/usage.md.
/// Throws Error(input) naming file, line and key for syntax errors, unknown keys and values of a wrong type.
std::vector<Assignment> read_toml(const std::string& path);

/// Gives a setting of an action its value, and those that say the same theirs.
void set_value(SettingValues& values, const ActionSetting& setting, SettingValue value);

/// Applies one level of settings (a file, or the flags), which override what `config` holds. Throws Error(input) naming the place, the
/// value and what is allowed; also if one level gives two settings of the action that say the same, such as kappa and mass.
void apply_settings(RunConfig& config, const std::vector<Assignment>& settings);

/// Throws Error(input) naming the setting if something that a solve needs is missing, or if settings exclude each other.
void check_complete(const RunConfig& config);

/// Replaces what was not given by the action's own choice (solver, columns), keeps in_flight within what there is to solve, and sets what
/// follows from other settings; call before check_complete().
void complete(RunConfig& config);

}  // namespace quarkstar::app
