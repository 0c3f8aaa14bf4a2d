#pragma once
// Solves M x = b, M = 2m + D, for several right-hand sides together through the even-odd system, on the task graph.
#include "codelets/field/host_colour.hpp"
#include "codelets/gauge/smear/staggered_links.hpp"
#include "runtime/cut/decomposition.hpp"
#include "solvers/settings.hpp"
#include "solvers/staggered_level.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quarkstar {

/// Names that SolverSettings::solver takes for staggered operators.
const std::vector<std::string>& staggered_solver_names();

/// How many right-hand sides should be in lanes (StaggeredSpeed::vectors_in_lanes) of a solver for solves of `vectors`
/// right-hand sides each: 16 or 8, as they all fill whole groups, where there are kernels for that: `cg`, long links of
/// 18 reals, no GPU on any rank, registers that hold several numbers, and not in half precision, where it is slower; else
/// 1. All ranks must call.
int vectors_in_lanes_for(const SolverSettings& settings, std::span<const int> vectors);

/// As Snapshots, of right-hand sides that are solved together.
struct ColourSnapshots {
  std::function<bool(int iterations)> due;
  /// This rank's part of every solution, and the iterations that each has taken.
  std::function<void(std::span<const HostColour> solutions, std::span<const int> iterations)> take;
};

/// Holds the links on the workers that own them; then solves for any number of sources. Needs a running
/// runtime::Session.
class StaggeredSolver {
 public:
  /// links: with all phases, of this rank's part and of hops into it, or more. settings.link_reals: of the Krylov
  /// solver's long links (18, 14, 13, 9); residuals and corrections are taken with all 18 in double precision;
  /// settings.solver: one of staggered_solver_names(); schur has no meaning here, updates none for `blockcg`, which
  /// corrects by restarts; multishift corrects by `cg`. Throws Error(input) for what cannot be, ShapeError when a link
  /// is missing. speed: for benchmarks, and how many right-hand sides are to come together, and in lanes; with
  /// settings.tune what it leaves open is measured, unless it gives a tile or a launch. Throws ShapeError for vectors in
  /// lanes where vectors_in_lanes_for() knows no kernels.
  StaggeredSolver(const runtime::Decomposition& decomposition, const smear::StaggeredLinks& links, const SolverSettings& settings,
                  const StaggeredSpeed& speed = {});
  ~StaggeredSolver();

  /// Makes what a solve for so many right-hand sides needs, measurements of speed settings among it; solve() does so
  /// too.
  void prepare(int vectors);

  /// Solves (2 masses[v] + D) solutions[v] = sources[v] for all v at once, each to the settings' tolerance; the
  /// solutions are the initial guesses on entry. 1 to 32 of them, masses positive. With the solver `cg` the bits of
  /// each are those of a solve of its own, also with other right-hand sides beside it. `blockcg` needs one mass;
  /// `multishift` the same source for every mass: from zero guesses all share one Krylov space before `cg` refines
  /// each, other guesses are refined at once. Never throws for a numerical failure: each result's reason tells. Under
  /// MPI sources and solutions are this rank's part (or whole), and all ranks solve together. seconds, flops, bytes and
  /// tasks of a result are its equal share of the whole. progress: iterations, largest relative residual. snapshots:
  /// none are taken, and an interrupted solve ends with the guess, while masses share a Krylov space, which can only
  /// begin from zero.
  std::vector<SolveResult> solve(std::span<const HostColour> sources, std::span<const double> masses, std::span<HostColour> solutions,
                                 const Progress& progress = {}, const ColourSnapshots& snapshots = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace quarkstar
