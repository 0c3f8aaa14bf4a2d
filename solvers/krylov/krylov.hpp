#pragma once
// What all Krylov solvers share: their contract, their common state, and the loop that submits iterations ahead of the answer.
#include "solvers/krylov/batches.hpp"
#include "solvers/krylov/linear_operator.hpp"
#include "solvers/settings.hpp"

#include <algorithm>
#include <cmath>

namespace quarkstar {

/// Reliable updates (Sleijpen and van der Vorst 1996): when |r| has fallen far enough since the last one, the solution so far moves to a
/// sum in a higher precision and the residual is computed anew from there, so that a solve in low precision ends where one in high
/// precision would, without losing its Krylov space.
struct Refresh {
  /// Submits, all guarded: y += x, x = 0, r = b - A y, with y and b the caller's, in the higher precision. Empty: no refreshes.
  std::function<void(const SpinorField& x, const SpinorField& r, const runtime::Guard& guard)> submit;
  double drop = 0.1;  ///< due when |r| is less than this times the largest since the last
  int every = 4;      ///< iterations between two places in the graph where a refresh can happen
};

/// Submits out = an approximate inverse of A times in, on the solver's own lattice.
using Preconditioner = std::function<void(const SpinorField& out, const SpinorField& in, const runtime::Guard& guard)>;

/// Where a Krylov solve must end.
struct KrylovLimits {
  double target_norm2 = 0;  ///< converged when |r|^2 <= this
  int most_iterations = 1000;
  int patience = 1000;   ///< stagnation when |r|^2 has reached no new minimum for so many iterations
  int check_every = 16;  ///< iterations between two looks at the stop flag (iterations_a_batch())
  Refresh refresh{};
  int restart = 8;                ///< directions that a solver keeps before it starts anew, where it keeps them
  Preconditioner precondition{};  ///< empty: none. Obeyed by solvers that are `flexible`
  /// Called between two batches of a running solve: may submit tasks that read the solution as it is there in the graph, and wait for them.
  /// iterations: at least so many are done; now(): how many the graph has done behind all that was submitted, for which it waits.
  std::function<void(int iterations, const std::function<int()>& now)> observe{};
};

struct KrylovResult {
  StopReason reason = StopReason::running;
  int iterations = 0;
  int refreshes = 0;          ///< reliable updates that happened
  std::vector<double> norm2;  ///< |r|^2 after each iteration (the first recorded_iterations())
  Work idle;                  ///< submitted ahead and not done, because the graph had stopped or no refresh was due
};

/// Called with |r|^2 now and then; false interrupts.
using KrylovProgress = std::function<bool(int iterations, double norm2)>;

/// Solves A x = r from x = 0. On return x is the solution and r the recursively updated residual (both are overwritten).
using KrylovSolver = KrylovResult (*)(LinearOperator& a, const SpinorField& x, const SpinorField& r, const KrylovLimits& limits,
                                      const KrylovProgress& progress);

/// Every solver by name. A new one is one file and one line in krylov.cpp.
struct NamedKrylovSolver {
  std::string_view name;
  KrylovSolver solve;
  bool any_operator;           ///< false: A must be hermitian and positive
  int fields;                  ///< work vectors besides x and r
  int fields_a_direction = 0;  ///< and for each of KrylovLimits::restart directions
  bool flexible = false;       ///< takes KrylovLimits::precondition, which may differ from one application to the next
};
const std::vector<NamedKrylovSolver>& krylov_solvers();

KrylovResult bicgstab(LinearOperator&, const SpinorField&, const SpinorField&, const KrylovLimits&, const KrylovProgress&);
KrylovResult generalised_conjugate_residual(LinearOperator&, const SpinorField&, const SpinorField&, const KrylovLimits&,
                                            const KrylovProgress&);
KrylovResult conjugate_gradient(LinearOperator&, const SpinorField&, const SpinorField&, const KrylovLimits&, const KrylovProgress&);
KrylovResult cg_normal_equations(LinearOperator&, const SpinorField&, const SpinorField&, const KrylovLimits&, const KrylovProgress&);

/// Head of every solver's state on the graph.
struct KrylovState {
  runtime::GraphStatus status;
  double norm2 = 0, best = 0;
  std::int32_t best_step = 0;
  double target = 0;
  std::int32_t most_iterations = 0, patience = 0;

  StopReason pending = StopReason::running;  ///< verdict of an iteration whose solution is still to be updated
  double drop2 = 0, largest = 0;             ///< Refresh::drop squared (0: no refreshes), largest |r|^2 since the last refresh

  QUARKSTAR_HD void stop(StopReason reason) {
    if (status.stop == 0) status.stop = static_cast<std::int32_t>(reason);
    status.resting = 1;  // a refresh that is due would find the coefficients of an iteration that is over
  }
  /// An iteration ends with |r|^2 = value: convergence, NaN, stagnation or the iteration limit; running otherwise.
  QUARKSTAR_HD StopReason verdict(double value) {
    norm2 = value;
    if (!(value <= 1.7976931348623157e308)) return StopReason::not_finite;  // NaN too
    if (value < best || status.step == 0) {
      best = value;
      best_step = status.step;
    }
    if (value <= target) return StopReason::converged;
    if (status.step + 1 >= most_iterations) return StopReason::iteration_limit;
    return status.step - best_step >= patience ? StopReason::stagnation : StopReason::running;
  }
  /// A running iteration ended with |r|^2 = value: is a refresh due?
  QUARKSTAR_HD void watch(double value) {
    if (value > largest) largest = value;
    if (status.stop == 0 && value < drop2 * largest) status.resting = 0;
  }
  /// A refresh has ended; the residual is in truth |r|^2 = value.
  QUARKSTAR_HD void refreshed(double value) {
    norm2 = largest = value;
    status.resting = 1;
    if (!(value <= 1.7976931348623157e308)) stop(StopReason::not_finite);
  }
  /// verdict() before the first iteration.
  QUARKSTAR_HD void check_start(double value) {
    norm2 = largest = value;
    if (!(value <= 1.7976931348623157e308)) stop(StopReason::not_finite);
    else if (value <= target) stop(StopReason::converged);
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

/// numerator / denominator; stops with zero_denominator when that is zero, with not_finite when it is not finite. The denominator is
/// first brought near 1 by a power of two, so that its square neither overflows nor underflows; that changes no digit.
QUARKSTAR_HD runtime::ComplexScalar divide(KrylovState& state, const runtime::ComplexScalar& numerator,
                                           const runtime::ComplexScalar& denominator) {
  const double re = denominator.re < 0 ? -denominator.re : denominator.re, im = denominator.im < 0 ? -denominator.im : denominator.im;
  const double size = re + im;  // NaN if either is
  if (!(size > 0) || !(size <= 1.7976931348623157e308)) {
    state.stop(size == 0 ? StopReason::zero_denominator : StopReason::not_finite);
    return {};
  }
  const double scale = scale_to_one(size), d_re = denominator.re * scale, d_im = denominator.im * scale;
  const double norm2 = d_re * d_re + d_im * d_im;
  return {(numerator.re * d_re + numerator.im * d_im) / norm2 * scale, (numerator.im * d_re - numerator.re * d_im) / norm2 * scale};
}
QUARKSTAR_HD runtime::ComplexScalar times(const runtime::ComplexScalar& a, const runtime::ComplexScalar& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/// Sets the stop flag from outside the iteration.
struct Interrupt {
  static constexpr const char* name = "scalar.interrupt";
  static constexpr bool ends_iteration = false;
  static constexpr bool from_outside = true;
  template <class State>
  static QUARKSTAR_HD void run(State& state, const double*) {
    // An iteration may already have its verdict.
    state.stop(state.pending != StopReason::running ? state.pending : StopReason::interrupted);
  }
};

/// Iterations whose residual is kept; a limit far above what a solve needs must not cost its memory.
constexpr int recorded_iterations(const KrylovLimits& limits) {
  constexpr int most = 100000;
  return limits.most_iterations < most ? limits.most_iterations : most;
}

/// State with its limits set.
template <class State>
State initial_state(const KrylovLimits& limits) {
  State state{};
  state.target = limits.target_norm2;
  state.most_iterations = limits.most_iterations;
  state.patience = limits.patience;
  if (limits.refresh.submit) state.drop2 = limits.refresh.drop * limits.refresh.drop;
  return state;
}

/// Runs iteration(bool refresh) until the graph stops (batches.hpp). cycle: of solvers whose iterations differ but repeat after so many;
/// the last one of a cycle is then the place for a refresh, whether there are refreshes or not.
template <class State, class Iteration>
KrylovResult run_iterations(runtime::GraphState<State>& state, const KrylovLimits& limits, const KrylovProgress& progress,
                            Iteration&& iteration, int cycle = 0) {
  const auto proceed = [&](const State& seen) {
    if (limits.observe) limits.observe(seen.status.step, [&state] { return runtime::HostView<State>(state.handle())->status.step; });
    return !progress || progress(seen.status.step, seen.norm2);
  };
  const int refresh_every = cycle > 0 ? cycle : limits.refresh.submit ? limits.refresh.every : 0;
  const auto [seen, idle] = run_in_batches<Interrupt>(state, limits.check_every, refresh_every, proceed, iteration);
  KrylovResult result;
  result.reason = static_cast<StopReason>(seen.status.stop);
  result.iterations = seen.status.step;
  result.refreshes = seen.status.refreshes;
  result.idle = idle;
  runtime::HostView<double> history(state.history());
  result.norm2.assign(history.get(), history.get() + std::min(seen.status.step, state.most_steps()));
  return result;
}

}  // namespace quarkstar
