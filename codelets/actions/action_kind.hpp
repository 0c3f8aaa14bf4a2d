#pragma once
// Every action that there is, and what runs, the command line, benchmarks, the laboratory and reports ask of it. Nothing else compares
// names of actions.
#include "codelets/actions/action.hpp"
#include "codelets/actions/settings.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/gauge/summary.hpp"
#include "codelets/stencil/face_format.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/graph/session.hpp"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarkstar {

/// The links of this rank's part of a lattice (or more of it), once it is known; fills in what the configuration is. The reference stays
/// valid while the links are used.
using LinksOfPart = std::function<const HostGauge&(const runtime::Decomposition&, GaugeSummary&)>;

/// Links that are there already, whole, and live longer than the solve.
inline LinksOfPart links_at_hand(const HostGauge& gauge) {
  return [&gauge](const runtime::Decomposition&, GaugeSummary&) -> const HostGauge& { return gauge; };
}

/// What a run tells its action; files of links tell some of it themselves.
struct ActionRun {
  SettingValues settings;
  BoundaryAngles boundary = antiperiodic_in_time;
  bool boundary_given = false;  ///< then files of links must have it
  int link_reals = 18;          ///< of the Krylov solver's links
  bool identify = false;        ///< RunOperator::equation is wanted
  GaugeSummary gauge = {};
};

/// An action of a run, for some of its masses.
struct RunOperator {
  std::shared_ptr<const void> links = {};  ///< to which `action` refers
  std::unique_ptr<Action> action = {};
  std::vector<std::pair<std::string, double>> numbers = {};  ///< that results tell beside the mass, by the name of their data set
  std::string equation = {};  ///< identifies the operator in restart files, but for its mass; empty where that is not wanted
};

/// Makes the operators of a run. masses: of the operator, by their place in the run's list. Under MPI all ranks call.
using MakeOperator = std::function<RunOperator(std::span<const std::size_t> masses)>;

/// What is there at once while the links of an action are made: gauge fields with borders of these depths on the owners of blocks, those of
/// the links that are kept with faces of their borders, and fields in host order, the configuration among them. Faces of other borders come
/// and go before the last of them.
struct LinkStage {
  std::vector<int> depths;
  bool stored;  ///< whether the links that are kept are there in host order too
};

/// The value of ActionKind::mass_key in benchmarks.
struct BenchMass {
  double usual, least, most;
};

class ActionKind {
 public:
  virtual ~ActionKind() = default;

  std::string_view name;      ///< of the setting `action`
  std::string_view title;     ///< at the head of tables
  int components;             ///< of a vector per site; as many columns belong to a source
  bool is_hermitian;          ///< which solvers fit: solver_names(is_hermitian)
  std::string_view mass_key;  ///< the setting by which operators differ: "mass", or Wilson's "kappa"
  bool names_masses;          ///< whether results and files name it, and there may be several
  bool masses_shift = false;  ///< whether M^+ M of one differs from that of another by a number, so that one Krylov space serves them
  int reach = 1;              ///< sites that the longest hop spans
  FaceFormat face;
  double flops;  ///< of the hopping operator, per site and right-hand side

  std::vector<int> link_reals;                    ///< forms of links that can be chosen; the first where none is given
  std::vector<ActionSetting> settings;            ///< of its own
  std::vector<std::string_view> solver_settings;  ///< keys of a solve's settings that mean something for it and not for all actions
  std::vector<std::string_view> link_files;  ///< settings: files with its links in place of a configuration, given together or not at all
  std::vector<LinkStage> making;  ///< of its links of a configuration, in order; the host fields of the last one stay. None: it solves on
                                  ///< the links of the configuration
  std::vector<std::pair<std::string_view, SettingValue>>
      heavy;  ///< settings with which checks solve in few iterations on a hot configuration

  std::vector<std::string_view> correlators;  ///< families of two-point functions of its propagators (codelets/contract/families.inc)

  std::vector<std::string_view> currents;  ///< families of currents of its three-point functions (codelets/contract/currents.hpp); none:
                                           ///< it has no three-point functions

  std::vector<int> bench_links, bench_numbers;  ///< what benchmarks measure where nothing is chosen: links, right-hand sides,
  std::vector<std::string> bench_solvers;       ///< solvers,
  BenchMass bench_mass;                         ///< and mass_key's value on a hot configuration
  std::vector<std::pair<std::string_view, SettingValue>> bench_settings;  ///< beside that

  bool knows(std::string_view key) const;
  /// Of its own settings, or nullptr.
  const ActionSetting* setting(std::string_view key) const;
  /// Whether the setting of that key is mass_key, or says the same.
  bool states_mass(std::string_view key) const;
  /// What was given, else the initial value. Throws Error(internal) for a key that is not among `settings`.
  const SettingValue& value(const SettingValues& values, std::string_view key) const;
  template <class Value>
  const Value& get(const SettingValues& values, std::string_view key) const {
    return std::get<Value>(value(values, key));
  }

  /// What a column is called in messages.
  std::string text_of_column(int column) const;
  /// Whether links come from files of their own, in place of a configuration.
  bool has_own_links(const SettingValues& values) const;

  /// Throws Error(input) naming the setting for values that exclude each other, or that their range does not tell.
  virtual void check(const SettingValues&) const {}
  /// The masses of a run (Wilson's: its kappa).
  virtual std::vector<double> masses(const SettingValues& values) const { return {get<double>(values, mass_key)}; }
  /// Else each mass has an operator of its own.
  virtual bool masses_share_links(const SettingValues&) const { return true; }

  /// Of the operator of sequential propagators: M(mass)(x, y) = g_5 M(that)^+(y, x) g_5.
  virtual double sequential_mass(double mass) const { return mass; }
  /// Why propagators are not S(x, y) = g_5 S(y, x)^+ g_5 up to that mass, so that there are none; empty: they are.
  virtual std::string obstacle_to_sequential(const SettingValues&) const { return ""; }
  /// Of the hops (1 -+ g_mu) U in -M, where there is a conserved current.
  virtual std::array<double, 4> hop_factors(const SettingValues&) const { return {}; }

  /// Bytes per site of matrices that an operator in this precision holds beside its links.
  virtual double term_bytes(const SettingValues&, Precision, Schur) const { return 0; }
  /// Of its fifth dimension: each right-hand side has so many spinors on a site.
  virtual int slices(const SettingValues&) const { return 1; }
  /// Fields of one parity and vector that its even-odd system keeps, the adjoint's included.
  virtual int images(Schur) const { return 1; }

  /// Where has_own_links(): reads the headers. What they state becomes the run's. Returns the lattice. Throws Error(input) naming the file
  /// or the setting where they contradict each other, the action, or a boundary that was given.
  virtual Coord accept_files(ActionRun& run) const;
  /// Reads links, and makes those of the action. Fills in run.gauge where `links` does not, and what files of links say. The result refers
  /// to what `links` gave. Under MPI all ranks call.
  virtual MakeOperator make_links(runtime::Session& session, const runtime::Decomposition& decomposition, const LinksOfPart& links,
                                  ActionRun& run) const = 0;

  /// The action with links of any value that have its form: for speeds. Of `run` its settings.
  virtual RunOperator with_any_links(HostGauge gauge, const ActionRun& run) const = 0;
};

/// The setting `mass`: Wilson's bare mass, staggered m of M = 2m + D, in lattice units.
ActionSetting mass_setting(double initial);

/// All of them: those of codelets/actions/actions.inc.
const std::vector<const ActionKind*>& action_kinds();
std::vector<std::string> action_names();

/// Whether it is a setting of the operator of some action, and no file of links.
bool is_operator_setting(std::string_view key);

/// Throws Error(input) naming `action` where there is none.
const ActionKind& kind_named(std::string_view name);

// Each in its own folder.
#define QUARKSTAR_ACTION(name) const ActionKind& name##_kind();
#include "codelets/actions/actions.inc"
#undef QUARKSTAR_ACTION

}  // namespace quarkstar
