#pragma once
// Solves M x = b for the Wilson operator through the even-odd system, on the task graph.
#include "codelets/field/host_spinor.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/cut/decomposition.hpp"
#include "solvers/settings.hpp"

#include <memory>

namespace quarkstar {

/// Holds the links on the workers that own them; then solves for any number of sources. Needs a running
/// runtime::Session.
class WilsonSolver {
 public:
  /// Copies the links into the blocks of `decomposition`. Throws Error(input) for an unknown solver name or link
  /// format, for links that are not SU(3) and should become 8 reals, for a preconditioner that does not fit solver, cut
  /// or devices, and ShapeError when the gauge field has other extents than the decomposition.
  WilsonSolver(const runtime::Decomposition& decomposition, const HostGauge& gauge, const WilsonParameters& parameters,
               const SolverSettings& settings);
  ~WilsonSolver();

  /// Solves M x = source to the settings' tolerance; `solution` is the initial guess on entry (zero: start from
  /// nothing). Never throws for a numerical failure: SolveResult::reason tells, and `solution` then holds the last
  /// iterate. Under MPI source and solution are this rank's part, and all ranks solve together. Programs of
  /// runtime::Turns may solve at the same time, each with the bits of its solve alone; SolveResult::seconds is then
  /// time in flight.
  SolveResult solve(const HostSpinor& source, HostSpinor& solution, const Progress& progress = {}, const Snapshots& snapshots = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace quarkstar
