#pragma once
// Times an action's hopping operator and its solvers as a solve runs them: through the task graph.
#include "apps/bench/bench_solver.hpp"
#include "apps/bench/bench_timing.hpp"
#include "apps/run/device_plan.hpp"
#include "codelets/actions/action.hpp"
#include "codelets/actions/action_kind.hpp"
#include "codelets/field/host_field.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/graph/session.hpp"

#include <memory>
#include <string>

namespace quarkstar::app {

/// What of an operator is timed.
struct BenchCase {
  Precision precision = Precision::double_;
  int link_reals = 18;  ///< ignored where the form of links cannot be chosen
  int vectors = 1;      ///< right-hand sides
  Speed speed{};
};

/// An application, and the settings that it had.
struct TunedTiming {
  DslashTiming timing;
  Coord tile{};
  stencil::Launch launch{};
};

/// The settings of an action that is measured: those given, else what is usual on a hot configuration (ActionKind::bench_mass,
/// bench_settings).
SettingValues benchmarked(const ActionKind& kind, const SettingValues& given);

/// An action on one lattice, its links made once.
class ActionBench {
 public:
  /// Of a hot configuration: close to a mass of zero CG converges about as slowly as in physics. settings: those
  /// of the operator that are not the usual ones. blocks: their number in each direction; zeros: as plan() says.
  ActionBench(runtime::Session& session, const Coord& lattice, const ActionKind& action, const SettingValues& settings = {},
              const Coord& blocks = {});
  /// How that cuts the lattice.
  static runtime::Decomposition cut(const runtime::Session& session, const Coord& lattice, const ActionKind& action, const Coord& blocks);
  /// With links of any value that have the form of the action's, on one cut only: for the speed of an owner.
  ActionBench(runtime::Session& session, const runtime::Decomposition& decomposition, const ActionKind& action,
              const SettingValues& settings = {});

  const Action& action() const { return *operator_.action; }
  const runtime::Decomposition& decomposition() const { return decomposition_; }
  /// The value of ActionKind::mass_key.
  double mass() const { return mass_; }
  /// A vector on the whole lattice. Those of several `step`s do not depend on each other.
  HostField wave(std::size_t step = 1) const;

  /// One application to c.vectors right-hand sides.
  TunedTiming time(const runtime::Decomposition& decomposition, const BenchCase& c, int repetitions,
                   const runtime::HardwareCounters* counters = nullptr) const;

  /// Who owns what: the blocks given, else t cut by the number of workers or, where CPUs may own blocks beside GPUs, as a solve would be
  /// cut.
  PlannedLattice plan(const BenchCase& c) const;

  /// What a solver of that name is asked for.
  SolverSettings settings(const std::string& solver, const BenchCase& c) const;

  /// A solver for c.vectors right-hand sides (multishift: of masses, that of the operator times 1, 2, ...) as `solve` runs it,
  /// with reliable updates where it has some below double precision, ended after `iterations`. Flops, bytes and tasks are those of whole
  /// solves over their iterations, refreshes and restarts included. tune: measure
  /// the settings that the tune cache does not know.
  SolverTiming time_solver(const std::string& name, const runtime::Decomposition& decomposition, const BenchCase& c, bool tune,
                           int iterations, int repetitions, const ExtraSolves& extra) const;

 private:
  runtime::Session& session_;
  const ActionKind& kind_;
  Coord blocks_{};  ///< zeros: chosen
  bool chosen_cut_;
  double mass_ = 0;
  runtime::Decomposition decomposition_;
  HostGauge gauge_;
  RunOperator operator_;
};

}  // namespace quarkstar::app
