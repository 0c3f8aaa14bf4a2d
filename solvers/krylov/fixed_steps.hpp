#pragma once
// A fixed number of steps of a Krylov recurrence as a preconditioner, on the graph.
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/recurrence.hpp"

namespace quarkstar {

/// out_v = K in_v: x_v after a fixed number of steps of a recurrence on A_v x_v = in_v from x_v = 0. The caller's iteration contains all
/// steps: nothing waits and nobody looks. Each application begins with a task that sets the recurrence's state anew and leaves out the
/// vectors that the caller's state leaves out. A vector whose recurrence breaks down stays as it is then; where that happens before its
/// second step, or numbers are not finite, out_v = in_v. K is not linear, so its solver must be flexible. The bits of a vector do not
/// depend on those beside it. Cost: so many iterations of the solver, and 4 passes over vectors; what is there for a further step or a
/// breakdown finds nothing to do and is counted all the same (work_ledger.hpp). Memory: the recurrence's, and one field.
class FixedSteps {
 public:
  /// solver: one that can_be_inner(), and fits A, which outlives this. restart, precondition: of KrylovLimits.
  FixedSteps(LinearOperator& a, const NamedKrylovSolver& solver, int steps, int restart, const Preconditioner& precondition = {});
  /// What it holds for n vectors.
  static RecurrenceMemory memory(const NamedKrylovSolver& solver, int steps, int restart, int n);
  FixedSteps(const FixedSteps&) = delete;  // the recurrence refers to the limits
  FixedSteps& operator=(const FixedSteps&) = delete;
  /// Submits it. guard: the caller's state, which begins with a KrylovState, or none; out_v of those it leaves out stay as they are where
  /// it keeps them.
  void apply(const Field& out, const Field& in, const runtime::Guard& guard) const;

 private:
  int steps_;
  KrylovLimits limits_;
  Field r_;
  std::unique_ptr<Recurrence> recurrence_;
};

/// The state anew, inside the caller's iteration: vectors that the caller leaves out stay out.
struct BeginAnew {
  static constexpr const char* name = "fixed_steps.begin_anew";
  static QUARKSTAR_HD void run(KrylovState& s, const VectorStatus* caller, const Obedience& obedience) {
    const std::int32_t *idle = obedience.idle(caller), *left_out = obedience.left_out(caller);
    for (int v = 0; v < s.vectors; ++v) {
      const bool out = (idle != nullptr && *idle != 0) || (left_out != nullptr && left_out[v] != 0);
      s.stopped[v] = out ? static_cast<std::int32_t>(StopReason::converged) : 0;
      s.not_due[v] = 1;
      s.iterations[v] = s.best_step[v] = 0;
      s.pending[v] = StopReason::running;
    }
    s.status.step = s.status.stop = 0;
    s.settle();
  }
};

/// Behind the last step: the vectors run that have broken down and have nothing to show for it, and no others.
struct RunBroken {
  static constexpr const char* name = "fixed_steps.run_broken";
  static QUARKSTAR_HD void run(KrylovState& s, const VectorStatus*, const Obedience&) {
    for (int v = 0; v < s.vectors; ++v) {
      const auto reason = static_cast<StopReason>(s.stopped[v]);
      const bool broke = reason == StopReason::not_finite || (reason == StopReason::zero_denominator && s.iterations[v] < 2);
      s.stopped[v] = broke ? 0 : static_cast<std::int32_t>(StopReason::converged);
    }
    s.status.stop = 0;
    s.settle();
  }
};

/// On the caller's state: what all ranks must find alike of the steps inside is part of what they must find alike of the caller's.
struct TakeTrail {
  static constexpr const char* name = "fixed_steps.take_trail";
  static QUARKSTAR_HD void run(KrylovState& caller, const VectorStatus* inside, const Obedience&) {
    const auto& s = static_cast<const KrylovState&>(*inside);
    for (int v = 0; v < s.vectors; ++v) {
      caller.trail[v] ^= s.trail[v];
      caller.note(v, s.iterations[v]);
    }
  }
};

}  // namespace quarkstar
