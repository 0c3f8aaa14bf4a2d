#pragma once
// What all Krylov solvers share: their contract, and the state of n vectors that stop one by one.
#include "codelets/actions/prepared_action.hpp"
#include "codelets/field/blas.hpp"
#include "solvers/krylov/work_ledger.hpp"
#include "solvers/settings.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace quarkstar {

/// Reliable updates (Sleijpen and van der Vorst 1996): when |r| has fallen far enough since the last one, the solution so far moves to a
/// sum in a higher precision and the residual is computed anew from there, so that a solve in low precision ends where one in high
/// precision would, without losing its Krylov space. Of several vectors each when its own residual has fallen.
struct Refresh {
  /// Submits, all under `due`: y += x, x = 0, r = b - A y, with y and b the caller's, in the higher precision. Empty: no refreshes.
  std::function<void(const Field& x, const Field& r, const runtime::Guard& due)> submit;
  double drop = 0.1;  ///< due when |r| is less than this times the largest since the last
  int every = 4;      ///< iterations between two places in the graph where a refresh can happen (NamedKrylovSolver::refresh_every)
};

struct KrylovState;

/// Looks at a solve between iterations that depend on no batch, so that bits may follow from them.
struct Pauses {
  int every = 0;  ///< iterations from one to the next
  /// Called where every vector pauses or has stopped, at the last iteration too; may submit, wait, and move the solution so far to a sum of
  /// its own: x += ..., x = 0. Empty: no pauses. Progress and `observe` are called before it, once each time.
  std::function<void(const Field& x)> at{};
};

/// What the next step of a Krylov solve reads beside A: another solve with these and the same limits goes on with the same bits.
struct KrylovSnapshot {
  std::vector<std::byte> numbers;    ///< its state, which begins with a KrylovState, with what is behind that; then the history so far
  std::vector<const Field*> fields;  ///< x, r, and of the recurrence those that last
};
/// Of a solve that goes on. load: submits tasks that write the fields, which are in the order of the snapshot's.
struct KrylovResume {
  std::span<const std::byte> numbers{};
  std::function<void(std::span<const Field* const> fields)> load{};  ///< empty: a solve from x = 0
};

/// Iterations for each right-hand side.
using Iterations = std::array<int, most_vectors>;
constexpr Iterations iterations_for_all(int iterations) {
  Iterations all{};
  all.fill(iterations);
  return all;
}

/// Where a Krylov solve must end, for each right-hand side.
struct KrylovLimits {
  PerVector target_norm2{};  ///< converged when |r|^2 <= this
  Iterations most_iterations{};
  Iterations patience = iterations_for_all(1000);  ///< stagnation when |r|^2 has reached no new minimum for so many iterations
  Iterations patience_at_first{};                  ///< the same, if it is more, until |r|^2 falls below what the first iterations reach
  int check_every = 16;                            ///< iterations between two looks at the stop flag (iterations_a_batch())
  Refresh refresh{};
  int restart = 8;                ///< directions that a solver keeps before it starts anew, where it keeps them
  Preconditioner precondition{};  ///< empty: none. Obeyed by solvers that are `flexible`
  double resolution = 1e-6;       ///< of block conjugate gradient
  PerVector shifts{};             ///< of solvers that are `shifted`
  bool nested = false;            ///< the steps are part of another solver's iteration (solvers/krylov/fixed_steps.hpp)
  Pauses pauses{};                ///< obeyed by solvers that can (NamedKrylovSolver::pauses)
  /// Called between two batches of a running solve: may submit tasks that read the solution as it is there in the graph, and wait for them.
  /// seen: at least so far it has come; now(): as it is behind all that was submitted, for which it waits.
  std::function<void(const KrylovState& seen, const std::function<KrylovSnapshot()>& now)> observe{};
  KrylovResume resume{};  ///< x and r, whatever they hold, are overwritten
};

/// Iterations whose residual is kept; a limit far above what a solve needs must not cost its memory.
constexpr int recorded_iterations(int most_iterations) { return std::min(most_iterations, 100000); }
/// Numbers in the history of a solve for n vectors.
inline int recorded_numbers(const KrylovLimits& limits, int n) {
  return n * recorded_iterations(*std::max_element(limits.most_iterations.begin(), limits.most_iterations.begin() + n));
}

/// Of one right-hand side.
struct KrylovResult {
  StopReason reason = StopReason::running;
  int iterations = 0;
  std::vector<double> norm2;  ///< |r|^2 after each iteration (the first recorded_iterations())
};

/// Of all of them.
struct KrylovResults {
  std::vector<KrylovResult> of_vectors;
  int refreshes = 0;         ///< reliable updates that happened to any right-hand side
  Work idle;                 ///< submitted ahead and not done, because the graph had stopped or no refresh was due
  bool interrupted = false;  ///< on some rank the progress has said so; all ranks have the same
};

/// Called now and then with the iterations so far and |r|^2 of every vector; false, on any rank, interrupts on all. No collective calls
/// inside.
using KrylovProgress = std::function<bool(int iterations, const double* norm2)>;

class Recurrence;  // solvers/krylov/recurrence.hpp

/// The recurrence of a solver for A x = r with so many vectors in x; the limits outlive it.
using MakeRecurrence = std::unique_ptr<Recurrence> (*)(LinearOperator& a, const KrylovLimits& limits, int vectors);

/// What a recurrence holds, known before it is made.
struct RecurrenceMemory {
  int fields;               ///< work vectors for each right-hand side besides x and r
  std::size_t state_bytes;  ///< of its state on the graph
  int lasting = 0;          ///< of the fields, those that last from one batch to the next
};

/// NamedKrylovSolver::known_gain2 of those that have one. 24 modes of 8^4, beta 6.0, kappa 0.158: BiCGStab takes 111 iterations, with 1e-4
/// 194, with 0, one correction, 170, without modes 203; GCR 163, 920, 2773 and 3047. With 0.1 it is 96 and 147, but 0.25 is stagnation.
inline constexpr double gain2_of_m = 1e-2;

/// A solver by name and what it can do. A new one is a file, which makes this with solver_by() (recurrence.hpp), and a line in solvers.inc.
struct NamedKrylovSolver {
  std::string_view name;
  bool any_operator = false;      ///< false: A must be hermitian and positive
  int refresh_every = 4;          ///< Refresh::every: bits depend on it
  bool flexible = false;          ///< takes KrylovLimits::precondition, which may differ from one application to the next
  bool reliable_updates = true;   ///< takes KrylovLimits::refresh
  bool one_operator = false;      ///< all A_v must be the same
  bool mixes_vectors = false;     ///< the bits of a vector depend on those beside it
  bool vectors_in_lanes = false;  ///< has kernels for colour vectors in lanes (Lattice::vectors_in_lanes())
  bool multigrid = false;         ///< with multigrid for its preconditioner, whether settings of that are given or not
  bool pauses = false;            ///< goes on where KrylovState::most_iterations has ended it: takes KrylovLimits::pauses
  double known_gain2 = 0;  ///< as Projector::gain2(), where the Krylov space is that of M itself: M brings back what a projector knew, as
                           ///< singular vectors on the left are no eigenvectors
  bool shifted = false;    ///< solves (A + shift_v) x_v = r for one r, x having a vector for each shift
  MakeRecurrence make = nullptr;  ///< this and what follows: by solver_by()
  RecurrenceMemory (*memory)(int restart, int vectors) = nullptr;
  bool keeps_directions = false;  ///< KrylovLimits::restart of them

  /// Whether a fixed number of its steps can be a preconditioner.
  bool can_be_inner() const { return !mixes_vectors && !shifted && !multigrid; }
};
/// All of them: those of solvers/krylov/solvers.inc.
const std::vector<NamedKrylovSolver>& krylov_solvers();
/// nullptr: there is none of that name.
const NamedKrylovSolver* find_krylov_solver(std::string_view name);

// Each in its own file.
#define QUARKSTAR_KRYLOV_SOLVER(name) NamedKrylovSolver name##_solver();
#include "solvers/krylov/solvers.inc"
#undef QUARKSTAR_KRYLOV_SOLVER

/// Solves A_v x_v = r_v from x = 0 for all vectors together. On return x is the solution and r the recursively updated residual (both are
/// overwritten). The bits of a vector are those of its own solve, where solvers share no space between vectors.
KrylovResults solve_by(MakeRecurrence make, LinearOperator& a, const Field& x, const Field& r, const KrylovLimits& limits,
                       const KrylovProgress& progress = {});

/// Head of every solver's state on the graph. States have no gaps, so that ranks can compare their bytes (runtime/mpi/agreement.hpp).
struct KrylovState : VectorStatus {
  static constexpr double iterations_a_digit = 28;  ///< of |r|, where nothing is computed (counted_batches.hpp)
  std::int32_t vectors = 1;
  std::int32_t patience[most_vectors]{}, patience_at_first[most_vectors]{}, most_iterations[most_vectors]{}, iterations[most_vectors]{},
      best_step[most_vectors]{};
  std::int32_t stop_at[most_vectors]{};  ///< iterations at the next pause, at most most_iterations
  StopReason pending[most_vectors]{};    ///< verdict of an iteration whose solution is still to be updated
  double norm2[most_vectors]{}, best[most_vectors]{}, target[most_vectors]{};
  double drop2 = 0, largest[most_vectors]{};  ///< Refresh::drop squared (0: no refreshes), largest |r|^2 since the last refresh
  /// Follows from every number that was noted, in order: what was wrong on one rank for one iteration alone shows at the next look too.
  std::uint64_t trail[most_vectors]{};

  QUARKSTAR_HD int numbers_a_step() const { return vectors; }
  /// Whether a step has nothing to do for v (runtime::StepOfVectors).
  QUARKSTAR_HD bool leaves_out(int v, bool refreshing) const { return stopped[v] != 0 || (refreshing && not_due[v] != 0); }

  /// Where a solve pauses next, from how many iterations there are between two pauses.
  void pause_in(int every) {
    for (int v = 0; v < vectors; ++v) stop_at[v] = most_iterations[v] - iterations[v] > every ? iterations[v] + every : most_iterations[v];
  }
  /// Whether v pauses for this reason.
  QUARKSTAR_HD bool is_pause(int v, StopReason reason) const {
    return reason == StopReason::iteration_limit && stop_at[v] < most_iterations[v];
  }
  /// Behind a pause: vectors that may do more iterations than that run again. Whether there are any. taken: steps submitted so far, of
  /// which those behind the stop count as taken. Refreshes are counted anew.
  bool go_on(int every, std::int64_t taken) {
    bool any = false;
    for (int v = 0; v < vectors; ++v) {
      if (stopped[v] != static_cast<std::int32_t>(StopReason::iteration_limit) || iterations[v] >= most_iterations[v]) continue;
      stopped[v] = 0;
      pending[v] = StopReason::running;
      any = true;
    }
    if (!any) return false;
    pause_in(every);
    status.stop = status.refreshes = 0;
    status.steps_taken = static_cast<std::int32_t>(taken);
    return true;
  }

  /// Adds a number to the trail of v: sums and what follows from them, which is the same on all ranks.
  QUARKSTAR_HD void note(int v, double number) {
    std::uint64_t bits = 0;  // for NaN, whose bits depend on the processor
    if (number == number) __builtin_memcpy(&bits, &number, sizeof bits);
    const std::uint64_t mixed = (trail[v] ^ bits) * 0x9e3779b97f4a7c15ull;
    trail[v] = mixed ^ mixed >> 32;
  }
  QUARKSTAR_HD void note(int v, const runtime::ComplexScalar& number) {
    note(v, number.re);
    note(v, number.im);
  }
  /// after: iterations that end with the step in which this is said.
  QUARKSTAR_HD void stop(int v, StopReason reason, int after = 0) {
    if (stopped[v] != 0) return;
    stopped[v] = static_cast<std::int32_t>(reason);
    iterations[v] = status.step + after;
    not_due[v] = 1;  // a refresh that is due would find the coefficients of an iteration that is over
  }
  /// What the states of single vectors mean for all: after every step of vectors.
  QUARKSTAR_HD void settle() {
    bool any_runs = false, any_is_due = false;
    for (int v = 0; v < vectors; ++v) {
      any_runs = any_runs || stopped[v] == 0;
      any_is_due = any_is_due || not_due[v] == 0;
    }
    status.resting = any_is_due ? 0 : 1;
    if (!any_runs) status.stop = static_cast<std::int32_t>(StopReason::converged);
  }
  /// An iteration ends with |r_v|^2 = value: convergence, NaN, stagnation or the iteration limit; running otherwise.
  QUARKSTAR_HD StopReason verdict(int v, double value) {
    norm2[v] = value;
    note(v, value);
    if (!(value <= 1.7976931348623157e308)) return StopReason::not_finite;  // NaN too
    if (value < best[v] || status.step == 0) {
      best[v] = value;
      best_step[v] = status.step;
    }
    if (value <= target[v]) return StopReason::converged;
    if (status.step + 1 >= stop_at[v]) return StopReason::iteration_limit;
    constexpr int first = 16;  // steps
    const int most = best_step[v] < first && patience_at_first[v] > patience[v] ? patience_at_first[v] : patience[v];
    return status.step - best_step[v] >= most ? StopReason::stagnation : StopReason::running;
  }
  /// verdict() before the first iteration.
  QUARKSTAR_HD void check_start(int v, double value) {
    norm2[v] = largest[v] = value;
    if (!(value <= 1.7976931348623157e308)) stop(v, StopReason::not_finite);
    else if (value <= target[v]) stop(v, StopReason::converged);
  }
  /// A running iteration ended with |r_v|^2 = value: is a refresh due?
  QUARKSTAR_HD void watch(int v, double value) {
    if (value > largest[v]) largest[v] = value;
    if (stopped[v] == 0 && value < drop2 * largest[v]) not_due[v] = 0;
  }
  /// The refresh of v has ended; the residual is in truth |r_v|^2 = value.
  QUARKSTAR_HD void refreshed(int v, double value) {
    norm2[v] = largest[v] = value;
    note(v, value);
    not_due[v] = 1;
    if (!(value <= 1.7976931348623157e308)) stop(v, StopReason::not_finite);
  }
  /// x is updated after the verdict on an iteration: the verdict takes effect when the next one begins. Whether v has stopped.
  QUARKSTAR_HD bool take_pending(int v) {
    if (pending[v] != StopReason::running) stop(v, pending[v]);
    return stopped[v] != 0;
  }
  /// numerator / denominator for one vector; stops it where that is impossible.
  QUARKSTAR_HD double divide(int v, double numerator, double denominator) {
    note(v, numerator);
    note(v, denominator);
    const double size = denominator < 0 ? -denominator : denominator;
    if (size > 0 && size <= 1.7976931348623157e308) return numerator / denominator;
    stop(v, size == 0 ? StopReason::zero_denominator : StopReason::not_finite);
    return 0;
  }
};

/// The power of two that brings a positive finite number near 1.
QUARKSTAR_HD double scale_to_one(double size) {
  std::uint64_t bits;
  __builtin_memcpy(&bits, &size, sizeof bits);
  const std::uint64_t exponent = bits >> 52;  // biased by 1023; the inverse of the largest numbers would be subnormal
  bits = (exponent < 2046 ? 2046 - exponent : 1) << 52;
  double scale;
  __builtin_memcpy(&scale, &bits, sizeof scale);
  return scale;
}

/// numerator / denominator for one vector; stops it with zero_denominator when that is zero, with not_finite when it is not finite. The
/// denominator is first brought near 1 by a power of two, so that its square neither overflows nor underflows; that changes no digit.
QUARKSTAR_HD runtime::ComplexScalar divide(KrylovState& state, int v, const runtime::ComplexScalar& numerator,
                                           const runtime::ComplexScalar& denominator) {
  state.note(v, numerator);
  state.note(v, denominator);
  const double re = denominator.re < 0 ? -denominator.re : denominator.re, im = denominator.im < 0 ? -denominator.im : denominator.im;
  const double size = re + im;  // NaN if either is
  if (!(size > 0) || !(size <= 1.7976931348623157e308)) {
    state.stop(v, size == 0 ? StopReason::zero_denominator : StopReason::not_finite);
    return {};
  }
  const double scale = scale_to_one(size), d_re = denominator.re * scale, d_im = denominator.im * scale;
  const double norm2 = d_re * d_re + d_im * d_im;
  return {(numerator.re * d_re + numerator.im * d_im) / norm2 * scale, (numerator.im * d_re - numerator.re * d_im) / norm2 * scale};
}
QUARKSTAR_HD runtime::ComplexScalar times(const runtime::ComplexScalar& a, const runtime::ComplexScalar& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/// What every step declares unless it says otherwise.
struct KrylovStep {
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
};
/// A step that ends an iteration, whose |r|^2 is recorded.
struct KrylovLastStep {
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = true;
  static QUARKSTAR_HD double record(const KrylovState& s, int v) { return s.norm2[v]; }
};
/// A step behind a refresh.
struct KrylovRefreshStep : KrylovStep {
  static constexpr bool refreshing = true;
};

}  // namespace quarkstar
