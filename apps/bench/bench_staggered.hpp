#pragma once
// Times the staggered Dslash as a solve runs it: through the task graph.
#include "apps/bench/bench_solver.hpp"
#include "apps/bench/bench_timing.hpp"
#include "apps/run/device_plan.hpp"
#include "codelets/actions/staggered/tuning.hpp"
#include "codelets/field/host_colour.hpp"
#include "codelets/field/precision.hpp"
#include "codelets/gauge/smear/staggered_links.hpp"
#include "runtime/cut/coord.hpp"
#include "runtime/graph/session.hpp"
#include "solvers/staggered_level.hpp"

#include <string>

namespace quarkstar::app {

/// A staggered Dslash on one lattice, its links made once.
class StaggeredBench {
 public:
  /// action: hisq, asqtad or naive, of a hot configuration: close to a mass of zero CG converges about as slowly as in physics.
  /// blocks: their number in each direction; zeros: as plan() says.
  StaggeredBench(runtime::Session& session, const Coord& lattice, const std::string& action, const Coord& blocks = {});
  /// The same with links at hand, on one cut only.
  StaggeredBench(runtime::Session& session, const runtime::Decomposition& decomposition, smear::StaggeredLinks links);

  /// One application to problem.vectors right-hand sides, in the order of sites `tile`, on a layout of at most `most_lanes` lanes.
  DslashTiming time(const staggered::TuningProblem& problem, const Coord& tile, const staggered::Launch& launch, int repetitions,
                    const runtime::HardwareCounters* counters = nullptr, std::optional<int> most_lanes = {}) const;

  /// Who owns what: the blocks given, else t cut by the number of workers or, where CPUs may own blocks beside GPUs, as a CG solve would be
  /// cut.
  PlannedLattice plan(Precision precision, int long_reals, int vectors) const;

  /// What a solver of that name is asked for. long_reals: ignored without long links.
  SolverSettings settings(const std::string& solver, Precision precision, int long_reals) const;

  /// What speed settings are chosen for. long_reals: ignored without long links.
  staggered::TuningProblem problem(const runtime::Decomposition& decomposition, Precision precision, int long_reals, int vectors) const;

  /// A solver of staggered_solver_names() for `vectors` right-hand sides (multishift: masses, `mass` times 1, 2, ...) as `solve` runs it,
  /// with reliable updates where it has some below double precision, ended after `iterations`. Flops, bytes and tasks are those of whole
  /// solves over their iterations, refreshes and restarts included. problem: of the inner level. speed: what is not tuned; tune: measure
  /// the rest where the tune cache does not know it.
  SolverTiming time_solver(const std::string& name, const staggered::TuningProblem& problem, const StaggeredSpeed& speed, bool tune,
                           double mass, int iterations, int repetitions, const ExtraSolves& extra) const;

 private:
  static smear::StaggeredLinks make_links(runtime::Session& session, const runtime::Decomposition& decomposition,
                                          const std::string& action);
  /// Fields of several `step`s do not depend on each other.
  HostColour wave(std::size_t step = 1) const;
  runtime::Session& session_;
  std::string action_;  ///< empty: links at hand
  Coord blocks_{};      ///< zeros: chosen
  runtime::Decomposition decomposition_;
  smear::StaggeredLinks links_;
};

}  // namespace quarkstar::app
