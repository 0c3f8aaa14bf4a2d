#pragma once
// Adaptive multigrid of two levels as a preconditioner, on the task graph.
#include "codelets/coarse/coarse_operator.hpp"
#include "solvers/krylov/fixed_steps.hpp"
#include "solvers/settings.hpp"

#include <memory>

namespace quarkstar {

/// Throws Error(input) naming the parameter for settings with which there is no multigrid: aggregates or null vectors that do not fit the
/// lattice or its cut, numbers of steps, fields in half precision, the symmetric Schur complement.
void check_multigrid(const MultigridSettings& settings, const runtime::Decomposition& decomposition, Precision precision, Schur schur);

/// The space between the two levels for one operator M, made by a set-up:
///   1. N null vectors: v = a fixed number of BiCGStab steps on Mh v = noise (which leaves the modes near zero), all N at once; noise is
///      a function of global sites;
///   2. block-orthonormalised P and D_c = P^+ M P (codelets/coarse);
///   3. some times: v = one multigrid cycle on v, all N at once, and P and D_c anew;
///   4. verification (verify()).
class Multigrid {
 public:
  /// fine: prepared with coarse::unit_of(aggregate), in the precision of all levels; it outlives this. mass: of the operator that is
  /// coarsened; others near it are served too, with more iterations. Waits until the set-up has ended. Throws Error(numerical) where it
  /// fails the verification.
  Multigrid(PreparedAction& fine, const MultigridSettings& settings, double mass);

  const MultigridSettings& settings() const { return settings_; }
  const coarse::Aggregates& aggregates() const { return aggregates_; }
  const coarse::CoarseMatrices& matrices() const { return matrices_; }
  PreparedAction& fine() const { return fine_; }

  /// What verification found.
  struct Verification {
    double orthonormality = 0;  ///< |P^+ P c - c| / |c|
    double galerkin = 0;        ///< |D_c c - P^+ M P c| / |D_c c|
    double contraction = 0;     ///< |r - Mh K r| / |r| for noise r
  };
  const Verification& verification() const { return verification_; }

 private:
  void make_null_vectors(EvenOdd& m);
  void improve(EvenOdd& m);
  void coarsen(EvenOdd& m);
  void verify(double mass);

  PreparedAction& fine_;
  MultigridSettings settings_;
  coarse::Aggregates aggregates_;
  coarse::CoarseMatrices matrices_;
  Field test_;  ///< the null vectors on solved sites before orthonormalisation
  Verification verification_;
};

/// out_v = K in_v, K an approximate inverse of the even-odd system Mh on the sites of its parity, for n vectors:
///   x = P_o y, D_c y = P_o^+ in by a fixed number of GCR steps (M^-1 (0, in) on odd sites is Mh^-1 in, and P_o is P there);
///   out = x + S (in - Mh x), S a fixed number of GCR steps.
/// All is tasks of the caller's iteration: nothing waits and nobody looks. K is not linear, so its solver must be flexible. Bits depend on
/// the aggregates, not on cut, device, policy or the other vectors. Cost: smoother_steps + 1 times Mh, coarse_steps times D_c, transfers.
class MultigridCycle {
 public:
  /// system: of the multigrid's fine operator; both outlive this.
  MultigridCycle(LinearOperator& system, const Multigrid& multigrid);
  /// Fields that it holds for each right-hand side: on the fine level, and on the coarse one.
  static RecurrenceMemory fine_memory(const MultigridSettings& settings, int n);
  static RecurrenceMemory coarse_memory(const MultigridSettings& settings, int n);
  /// Submits it. guard: the caller's state; out_v of those it leaves out stay as they are where it keeps them.
  void apply(const Field& out, const Field& in, const runtime::Guard& guard = {}) const;

 private:
  LinearOperator& system_;
  const Multigrid& multigrid_;
  mutable coarse::CoarseOperator coarse_;
  FixedSteps coarse_solver_, smoother_;
  Field coarse_residual_, coarse_solution_, residual_, correction_;
};

}  // namespace quarkstar
