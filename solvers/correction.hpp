#pragma once
// One correction of all right-hand sides of a solve: M e = r, as far as one Krylov solve brings it.
#include "codelets/actions/action.hpp"
#include "codelets/field/host_field.hpp"
#include "solvers/known_modes.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/settings.hpp"
#include "solvers/solve_state.hpp"
#include "solvers/solver.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace quarkstar {

/// What is asked of a correction.
struct CorrectionGoal {
  static constexpr double done = std::numeric_limits<double>::max();

  std::size_t n;  ///< right-hand sides
  PerVector mass;
  const NamedKrylovSolver* solver = nullptr;
  bool by_multigrid = false;
  PerVector target2{};  ///< of |b - M x|^2; `done`: this right-hand side is left as it is
  double gain2 = 0;     ///< Projector::gain2() of what it begins with
  PerVector r_norm2{};
  PerVector least2{};  ///< the same, or before deflation where that is less: it makes an error smaller, and may make its residual larger
  Iterations budget{};
  Iterations patience{};      ///< KrylovLimits, where more than is usual; 0: that
  KrylovProgress progress{};  ///< with |residual of the even-odd system|^2
  decltype(KrylovLimits::observe) observe{};
  const SolveState* resume = nullptr;  ///< that this correction goes on from

  bool runs(std::size_t v) const { return target2[v] != done; }
};

/// Makes corrections in the precision of the settings. M and everything outside the Krylov solver are in double precision.
class Corrector {
 public:
  Corrector(const SolverSettings& settings, const NamedKrylovSolver& krylov, int components, bool is_hermitian, PreparedActions prepared);

  const SolverSettings& settings() const { return settings_; }
  /// The settings', or the fallback where multigrid's set-up has failed.
  const NamedKrylovSolver& krylov() const { return *krylov_; }
  int components() const { return components_; }
  bool is_hermitian() const { return is_hermitian_; }
  PreparedAction& action() const { return *prepared_.outer; }
  const LatticePointer& lattice() const { return action().lattice(); }
  /// None where it was not asked for, or its set-up failed.
  const Multigrid* multigrid() const { return multigrid_.get(); }
  KnownModes& modes() { return modes_; }

  void set_up_multigrid();
  /// Makes every hopping operator that a solve for n right-hand sides applies.
  void prepare(int n);

  /// Solves M e = r through the even-odd system `outer`.
  KrylovResults solve(EvenOdd& outer, const FullField& e, const FullField& r, const CorrectionGoal& goal);
  /// Solves M_s e_s = source for all masses: M M^+ y = source from one Krylov space, then e = M^+ y. Where M M^+ leaves the parities apart
  /// each by itself.
  KrylovResults solve_shifted(EvenOdd& outer, const FullField& e, const LoadSources& load, const CorrectionGoal& goal);

  /// Solves (A_v + shift_v) e_v = r_v on the sites of r, A = Mh^+ Mh of the even-odd system; r of one vector: of all shifts, from one
  /// Krylov space.
  KrylovResults solve_normal(const Field& e, const Field& r, const CorrectionGoal& goal, const PerVector& shifts);

  /// After a correction that has gained little: whether the next one should wait longer for a new least residual before it gives up. In low
  /// precision most often nothing comes of that but iterations, and a new correction is better; but |r| of conjugate gradient does rest,
  /// for up to about 1 / m iterations (16^3 x 32, HISQ: 295 at m = 0.004), and where none waits the solve would end here.
  bool waits_longer(CorrectionGoal& goal, std::size_t v) const;

  /// x + e as far as solve() has come with e; x alone of right-hand sides that `working` leaves out. Waits for the tasks before it.
  std::vector<HostField> copy_of_iterate(EvenOdd& outer, const FullField& x, const FullField& e, const FullField& r,
                                         const runtime::Guard& working, const Box& part) const;
  /// The solve as it is behind all that was submitted. sum: of the correction.
  SolveState state_of(const CorrectionNumbers& numbers, const std::vector<SolveResult>& results, const FullField& x, const Field& sum,
                      const KrylovSnapshot& now, const Box& part) const;

 private:
  bool below_double() const { return settings_.precision != Precision::double_; }
  int usual_patience() const { return below_double() ? 200 : 1000; }
  std::vector<const Field*> kept_fields(const Field& sum, std::span<const Field* const> of_solver) const;
  KrylovLimits limits_of(const NamedKrylovSolver& solver, const CorrectionGoal& goal, const PerVector& factor, bool refreshes) const;
  KrylovResults solve_scaled(const NamedKrylovSolver& solver, LinearOperator& system, EvenOdd* outer_system, const Field& x,
                             const Field& rhs, const CorrectionGoal& goal, const PerVector& factor, const PerVector& shifts);
  KrylovResults solve_below(const NamedKrylovSolver& solver, LinearOperator& system, EvenOdd* outer_system, const Field& x,
                            const Field& rhs, const CorrectionGoal& goal, const PerVector& scale, KrylovLimits& limits,
                            const KrylovProgress& progress, bool refreshes);

  SolverSettings settings_;
  const NamedKrylovSolver* krylov_;
  int components_;
  bool is_hermitian_;
  PreparedActions prepared_;
  std::unique_ptr<const Multigrid> multigrid_{};
  KnownModes modes_;
};

/// r = b - M x; submits it.
void submit_residual(EvenOdd& system, const FullField& r, const FullField& b, const FullField& x);

}  // namespace quarkstar
