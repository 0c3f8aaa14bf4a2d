#pragma once
// The main job: links and sources in, solved columns out, on the task graph.
#include "apps/run/job_energy.hpp"
#include "apps/run/kept_solver.hpp"
#include "apps/run/made_links.hpp"
#include "apps/run/report.hpp"
#include "apps/run/run_watch.hpp"
#include "apps/run/solve_plan.hpp"
#include "codelets/quark_smear/smearers.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/graph/session.hpp"

#include <functional>
#include <span>
#include <vector>

namespace quarkstar::app {

/// Where propagators were solved for, and may be contracted with others.
struct SolvedOn {
  const runtime::Decomposition& decomposition;
  const QuarkSmearers* smearers;  ///< of all sinks, nullptr where nothing is smeared
  bool more;                      ///< another source is complete, too, and comes next
};

/// One source of a run, and what becomes of its propagators. The reports' configurations (of_source()) differ in what belongs to a source:
/// it, and names of folders and files.
struct SourceRun {
  RunReport& report;
  std::function<void(Propagators, const SolvedOn&)> done;
};

/// What the solves of a session leave to those behind them.
struct KeptBetweenSolves {
  explicit KeptBetweenSolves(const runtime::Session& session) : meter(session) {}
  /// Before another configuration.
  void forget() {
    solver.forget();
    links.forget();
  }

  MadeLinks links;
  KeptSolver solver;     ///< of those links
  JobEnergyMeter meter;  ///< the GPUs' counters take 20 ms to open
};

/// Makes the action's links of `links` (or reads them: then ActionKind::accept_files() came before, and `links` is not asked), solves the
/// columns of all sources for all masses in groups_of(), contracts them, and fills the reports as it goes; a source's propagators are given
/// away when they are complete, which may be while others are solved. Under MPI all ranks call, and each gets its part of every column.
/// Writes the trace if one is wanted. Tells `watch` its progress. Throws Error(numerical) naming column and reason if one does not converge
/// (its report's `failed` is then set), and Interrupted where `watch` says so. With solver.in_flight > 1 the time that a report tells of a
/// solve is an equal share of all; of several sources, whose outputs may be written meanwhile, it is time in flight, and of the energy
/// nothing is told. planned: plan_solve() with the settings of the reports and these sources, or more. kept: of earlier solves on
/// this session.
void solve_sources(runtime::Session& session, const PlannedSolve& planned, const LinksOfPart& links, KeptBetweenSolves& kept,
                   std::span<SourceRun> sources, RunWatch& watch);

/// The same on a session of its own, planned, and with the memory checked. planned: called once it is clear what runs where and how much
/// memory it takes, before that memory is taken. read_beside: begins work of other threads, beside the start of the session; not called
/// where speeds are measured afterwards.
void solve_sources(const LinksOfPart& links, const Coord& lattice, std::span<SourceRun> sources, RunWatch& watch,
                   const std::function<void(const RunReport&)>& planned = {}, const std::function<void()>& read_beside = {});

/// The same for report.config with its one source.
Propagators solve_source(const LinksOfPart& links, const Coord& lattice, RunReport& report, RunWatch& watch,
                         const std::function<void(const RunReport&)>& planned = {});

}  // namespace quarkstar::app
