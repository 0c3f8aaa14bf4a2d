#pragma once
// The solves of one operator of a run.
#include "apps/run/kept_solver.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "apps/run/run_state.hpp"
#include "apps/run/solve_bound.hpp"
#include "apps/run/solve_run.hpp"
#include "solvers/eigen/eigen_projector.hpp"
#include "solvers/solver.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quarkstar::app {

/// An operator of the run, and its solves.
class OperatorSolves {
 public:
  OperatorSolves(RunState& run, const MakeOperator& make, std::span<const std::size_t> masses);

  int groups() const { return static_cast<int>(groups_.size()); }

  /// Behind all solves: the next quark may have the solver.
  void leave_solver();

  /// On an island. Returns how many seconds it took.
  double solve(int number, std::size_t island);

 private:
  /// What tells this operator from others of the run.
  std::optional<double> telling_mass() const { return run_.operators.size() > 1 ? std::optional(mass_) : std::nullopt; }

  std::vector<double> values_of(std::span<const std::size_t> masses) const;

  /// Returns the modes that it begins with, where there are some.
  std::shared_ptr<const EigenProjector> make_solver(std::size_t island);

  /// The modes' part of the correlators of all sources.
  void add_low_modes(Solver& solver, const EigenProjector& modes);

  /// Keeps what comes back, and tells how many seconds it took.
  double solve_group(const std::vector<RightHandSide>& group, std::size_t island);

  /// Takes the solutions in, contracts what is complete with them, and gives sources away that are, whatever became of the others. Throws
  /// where the run is to end.
  void use(const std::vector<RightHandSide>& group, std::size_t island, const std::vector<SolveResult>& results,
           std::vector<HostField> solutions, const LatticePointer& lattice, bool stopped);

  /// Whether there should be three-point functions of the propagator of a right-hand side, which is complete, and nobody makes them yet.
  bool lacks_three_points(const RightHandSide& side) const;

  /// Solves for its sequential propagators. Else tells why not: nothing where the run is to end.
  std::optional<std::string> add_three_points(const RightHandSide& side, std::size_t island);

  /// Time and energy of a group that was alone; of others equal shares are told later, or nothing.
  void report(const std::vector<RightHandSide>& group, const std::vector<SolveResult>& results, const runtime::Energy& before,
              std::optional<BoundMeter>& bound_meter, double seconds, double bytes);

  RunState& run_;
  bool among_others_;      ///< solves of others may be in flight
  KeptSolver::Held held_;  ///< where the solver is an earlier quark's, its operator
  RunOperator operator_;
  double mass_;  ///< its first
  std::vector<std::size_t> masses_;
  std::vector<std::vector<RightHandSide>> groups_;
  std::vector<int> numbers_;                      ///< of right-hand sides in the groups
  std::vector<std::unique_ptr<Solver>> solvers_;  ///< of each island
  double making_seconds_ = 0;
  std::string begun_with_{};  ///< null vectors from elsewhere, where multigrid's set-up had some
};

}  // namespace quarkstar::app
