#pragma once
// Every action that there is, and what the command line, runs, benchmarks, the laboratory and reports ask of it. Nothing else compares
// names of actions.
#include "apps/command/config.hpp"
#include "apps/run/memory_check.hpp"
#include "apps/run/report.hpp"
#include "codelets/actions/action.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/cut/decomposition.hpp"
#include "solvers/footprint.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarkstar::app {

/// The links of this rank's part of a lattice (or more of it), once it is known. The reference stays valid while the links are used.
using LinksOfPart = std::function<const HostGauge&(const runtime::Decomposition&)>;

/// Links that are there already, whole, and live longer than the solve.
inline LinksOfPart links_at_hand(const HostGauge& gauge) {
  return [&gauge](const runtime::Decomposition&) -> const HostGauge& { return gauge; };
}

/// An action of a run, for some of its masses.
struct RunOperator {
  std::shared_ptr<const void> links;  ///< to which `action` refers
  std::unique_ptr<Action> action;
  double naik_epsilon = 0;
  std::string equation;  ///< identifies the operator in restart files, but for its mass; empty without them
};

/// Makes the operators of a run. masses: of the operator, by their place in the run's list. Under MPI all ranks call.
using MakeOperator = std::function<RunOperator(std::span<const std::size_t> masses)>;

/// A real number that an action has as a setting of its own, RunConfig::numbers[key].
struct ActionNumber {
  std::string_view key, metavar, help;
  double initial = 0;
};

class ActionKind {
 public:
  virtual ~ActionKind() = default;

  std::string_view name;   ///< of --action
  std::string_view title;  ///< at the head of tables
  int components;          ///< of a vector per site; as many columns belong to a source
  bool is_hermitian;       ///< which solvers fit: solver_names(is_hermitian)
  bool names_masses;       ///< whether results and files name the mass, of which there may be several; else it is kappa
  int reach = 1;           ///< sites that the longest hop spans
  int face_reals;          ///< that a hop needs of a neighbour
  double flops;            ///< of the hopping operator, per site and right-hand side

  std::vector<int> link_reals;             ///< forms of links that --links can choose; the first where it is not given
  std::vector<std::string_view> settings;  ///< keys of run_settings() that mean something for this action and not for all
  std::vector<ActionNumber> numbers;       ///< further settings

  std::vector<int> bench_links, bench_numbers;  ///< what benchmarks measure where nothing is chosen: links, right-hand sides
  std::vector<std::string> bench_solvers;       ///< and solvers

  bool knows(std::string_view key) const;
  /// Of `numbers`.
  double number(const RunConfig& config, std::string_view key) const;

  /// What a column is called in messages.
  std::string text_of_column(int column) const;

  /// What settings of the action exclude. Throws Error(input) naming the flag.
  virtual void check(const RunConfig& config) const = 0;
  /// The masses of a run (Wilson's: its kappa).
  virtual std::vector<double> masses(const RunConfig& config) const = 0;
  virtual bool masses_share_links(const RunConfig&) const { return true; }
  virtual bool has_own_links(const RunConfig&) const { return false; }  ///< from files of their own, in place of a configuration
  virtual OperatorShape shape(const RunConfig& config) const = 0;
  /// Adds what links take while they are read and made. needs: as memory_needs().
  virtual void add_links(std::vector<MemoryNeed>& needs, const runtime::Session& session, const runtime::Decomposition& decomposition,
                         const RunConfig& config) const = 0;
  /// Memory of a part that is cut along `direction`.
  virtual PartBytes part_bytes(const Coord& lattice, int direction, const RunConfig& config) const = 0;

  /// Reads links, and makes those of the action. Fills in report.gauge where `links` does not, and what files of links say in
  /// report.config. The result refers to report.config and to what `links` gave. Under MPI all ranks call.
  virtual MakeOperator make_links(runtime::Session& session, const runtime::Decomposition& decomposition, const LinksOfPart& links,
                                  RunReport& report) const = 0;

  /// The action with links of any value that have its form: for speeds.
  virtual RunOperator with_any_links(HostGauge gauge) const = 0;

  /// Correlators of a source's propagators, summed over ranks; which are left out for that source and why, else "".
  virtual std::vector<CorrelatorReport> contract(const Propagators& propagators, const Source& source, int times) const = 0;
  virtual std::string correlators_left_out(const Source&) const { return ""; }
};

/// All of them: those of apps/run/actions.inc.
const std::vector<const ActionKind*>& action_kinds();
std::vector<std::string> action_names();

/// Throws Error(input) naming --action where there is none.
const ActionKind& kind_named(std::string_view name);
const ActionKind& kind_of(const RunConfig& config);

// Each in its own file.
#define QUARKSTAR_ACTION(name) const ActionKind& name##_kind();
#include "apps/run/actions.inc"
#undef QUARKSTAR_ACTION

}  // namespace quarkstar::app
