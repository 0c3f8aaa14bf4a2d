#pragma once
// What the Krylov solvers for many right-hand sides share: limits, results, the state of vectors that stop on their own, and the loop
// that submits iterations ahead of the answer.
#include "codelets/actions/staggered/vector_blas.hpp"
#include "solvers/krylov/batches.hpp"
#include "solvers/krylov/vector_operator.hpp"
#include "solvers/settings.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace quarkstar {

using staggered::ColourField;
using staggered::Control;
using staggered::most_vectors;
using staggered::PerVector;
using staggered::VectorCoefficient;

/// Reliable updates for several vectors, each when its own residual has fallen far enough (see Refresh in krylov.hpp).
struct VectorRefresh {
  /// Submits, all under `due`: y += x, x = 0, r = b - A y, with y and b the caller's, in the higher precision. Empty: no refreshes.
  std::function<void(const ColourField& x, const ColourField& r, const Control& due)> submit;
  double drop = 0.1;  ///< due when |r| is less than this times the largest since the last
  /// Iterations between two places in the graph where a refresh can happen. One that is not due still costs the launches of 12 kernels or
  /// more; one that waits for its place costs iterations: 8 take up to 4 % more of them than 4 in half precision, 16 up to 20 %.
  int every = 8;
};

struct VectorKrylovState;

/// Where a solve must end, for each right-hand side.
struct VectorLimits {
  PerVector target_norm2{};  ///< converged when |r|^2 <= this
  std::array<int, most_vectors> most_iterations{};
  int patience = 1000;       ///< stagnation when |r|^2 has reached no new minimum for so many iterations
  int check_every = 16;      ///< iterations between two looks at the stop flag (iterations_a_batch())
  VectorRefresh refresh;     ///< for conjugate_gradient
  double resolution = 1e-6;  ///< for block_conjugate_gradient
  /// Called between two batches of a running solve: may submit tasks that read the solution as it is there in the graph, and wait for them.
  /// seen: at least so far it has come; now(): as it is behind all that was submitted, for which it waits.
  std::function<void(const VectorKrylovState& seen, const std::function<VectorKrylovState()>& now)> observe{};
};

/// Of one right-hand side.
struct VectorResult {
  StopReason reason = StopReason::running;
  int iterations = 0;
  std::vector<double> norm2;  ///< |r|^2 after each iteration (the first recorded ones)
  Work idle;                  ///< as KrylovResult::idle, of all right-hand sides together; the first result has it
  int refreshes = 0;          ///< reliable updates that happened to any right-hand side; the first result has them
};

/// Called now and then with the iterations so far and |r|^2 of every vector; false interrupts.
using VectorProgress = std::function<bool(int iterations, const double* norm2)>;

/// Conjugate gradient for n right-hand sides that advance together: A_v x_v = r_v from x = 0. The bits of a vector are those of its own
/// solve. On return x is the solution and r the recursively updated residual. An iteration: one application, three passes over vectors.
std::vector<VectorResult> conjugate_gradient(VectorOperator& a, const ColourField& x, const ColourField& r, const VectorLimits& limits,
                                             const VectorProgress& progress);

/// Multi-shift conjugate gradient: (A + shift_s) x_s = r for all shifts >= 0 from one Krylov space; r: one vector, x: one a shift, zero
/// on entry or not. |r_s| of the shifted systems is recursive; refine where it must be true. An iteration: one application to one vector
/// and 5 passes over x. Source: B. Jegerlehner, hep-lat/9612014.
std::vector<VectorResult> multishift_conjugate_gradient(VectorOperator& a, const ColourField& x, const ColourField& r,
                                                        const PerVector& shifts, const VectorLimits& limits,
                                                        const VectorProgress& progress);

/// Block conjugate gradient (BlockCGrQ) for n right-hand sides of one operator: A x_v = r_v from x = 0; all of them share one Krylov space,
/// which takes fewer iterations than n spaces, at 24 n^2 flop a site more for each of four products of a block with a matrix and two
/// inner products. Right-hand sides may depend on each other: directions whose norm is less than `resolution` of the largest are left
/// out, so refine where the residual must be smaller. They end together. r is overwritten. Sources: A. A. Dubrulle, ETNA 12 (2001) 216;
/// M. A. Clark et al., arXiv:1710.09745.
std::vector<VectorResult> block_conjugate_gradient(VectorOperator& a, const ColourField& x, const ColourField& r,
                                                   const VectorLimits& limits, const VectorProgress& progress);

/// Head of every state.
struct VectorKrylovState : staggered::VectorStatus {
  std::int32_t vectors = 1;
  std::int32_t patience = 0;
  std::int32_t most_iterations[most_vectors]{}, iterations[most_vectors]{}, best_step[most_vectors]{};
  StopReason pending[most_vectors]{};  ///< verdict of an iteration whose solution is still to be updated
  double norm2[most_vectors]{}, best[most_vectors]{}, target[most_vectors]{};
  double drop2 = 0, largest[most_vectors]{};  ///< VectorRefresh::drop squared (0: no refreshes), largest |r|^2 since the last refresh

  QUARKSTAR_HD int numbers_a_step() const { return vectors; }

  QUARKSTAR_HD void stop(int v, StopReason reason) {
    if (stopped[v] != 0) return;
    stopped[v] = static_cast<std::int32_t>(reason);
    iterations[v] = status.step;
    // A refresh that is due would find the coefficients of an iteration that is over.
    not_due[v] = 1;
    status.resting = 1;
    for (int u = 0; u < vectors; ++u)
      if (not_due[u] == 0) status.resting = 0;
  }
  /// Stops everything once every vector has stopped.
  QUARKSTAR_HD void settle() {
    for (int v = 0; v < vectors; ++v)
      if (stopped[v] == 0) return;
    status.stop = static_cast<std::int32_t>(StopReason::converged);
  }
  QUARKSTAR_HD void check_start(int v, double value) {
    norm2[v] = largest[v] = value;
    if (!(value <= 1.7976931348623157e308)) stop(v, StopReason::not_finite);
    else if (value <= target[v]) stop(v, StopReason::converged);
  }
  /// A running iteration ended with |r_v|^2 = value: is a refresh due?
  QUARKSTAR_HD void watch(int v, double value) {
    if (value > largest[v]) largest[v] = value;
    if (stopped[v] == 0 && value < drop2 * largest[v]) not_due[v] = status.resting = 0;
  }
  /// The refresh of v has ended; the residual is in truth |r_v|^2 = value.
  QUARKSTAR_HD void refreshed(int v, double value) {
    norm2[v] = largest[v] = value;
    not_due[v] = status.resting = 1;
    if (!(value <= 1.7976931348623157e308)) stop(v, StopReason::not_finite);
  }
  /// An iteration ends with |r_v|^2 = value: convergence, NaN, stagnation or the iteration limit; running otherwise.
  QUARKSTAR_HD StopReason verdict(int v, double value) {
    norm2[v] = value;
    if (!(value <= 1.7976931348623157e308)) return StopReason::not_finite;  // NaN too
    if (value < best[v] || status.step == 0) {
      best[v] = value;
      best_step[v] = status.step;
    }
    if (value <= target[v]) return StopReason::converged;
    if (status.step + 1 >= most_iterations[v]) return StopReason::iteration_limit;
    return status.step - best_step[v] >= patience ? StopReason::stagnation : StopReason::running;
  }
  /// x is updated after the verdict on an iteration: the verdict takes effect when the next one begins.
  QUARKSTAR_HD void take_pending() {
    for (int v = 0; v < vectors; ++v)
      if (pending[v] != StopReason::running) stop(v, pending[v]);
  }
  /// numerator / denominator for one vector; stops it where that is impossible.
  QUARKSTAR_HD double divide(int v, double numerator, double denominator) {
    const double size = denominator < 0 ? -denominator : denominator;
    if (size > 0 && size <= 1.7976931348623157e308) return numerator / denominator;
    stop(v, size == 0 ? StopReason::zero_denominator : StopReason::not_finite);
    return 0;
  }
};

/// Stops every vector from outside the iteration.
struct VectorInterrupt {
  static constexpr const char* name = "vectors.interrupt";
  static constexpr bool ends_iteration = false;
  static constexpr bool from_outside = true;
  template <class State>
  static QUARKSTAR_HD void run(State& state, const double*) {
    state.take_pending();  // an iteration may already have its verdicts
    for (int v = 0; v < state.vectors; ++v) state.stop(v, StopReason::interrupted);
    state.settle();
  }
};

/// State with its limits set.
template <class State>
State initial_vector_state(const VectorLimits& limits, int vectors) {
  State state{};
  state.vectors = vectors;
  state.patience = limits.patience;
  for (int v = 0; v < vectors; ++v) {
    state.target[v] = limits.target_norm2[static_cast<std::size_t>(v)];
    state.most_iterations[v] = limits.most_iterations[static_cast<std::size_t>(v)];
    state.not_due[v] = 1;
  }
  if (limits.refresh.submit) state.drop2 = limits.refresh.drop * limits.refresh.drop;
  return state;
}

/// Numbers in the history: a limit far above what a solve needs must not cost its memory.
inline int recorded_numbers(const VectorLimits& limits, int vectors) {
  constexpr int most = 20000;
  return vectors * std::min(most, *std::max_element(limits.most_iterations.begin(), limits.most_iterations.begin() + vectors));
}

/// Runs iteration(bool refresh) until the graph stops (batches.hpp).
template <class State, class Iteration>
std::vector<VectorResult> run_vector_iterations(runtime::GraphState<State>& state, const VectorLimits& limits,
                                                const VectorProgress& progress, Iteration&& iteration) {
  const auto proceed = [&](const State& seen) {
    if (limits.observe)
      limits.observe(seen, [&state] { return static_cast<const VectorKrylovState&>(*runtime::HostView<State>(state.handle())); });
    return !progress || progress(seen.status.step, seen.norm2);
  };
  const int refresh_every = limits.refresh.submit ? limits.refresh.every : 0;
  const auto [seen, idle] = run_in_batches<VectorInterrupt>(state, limits.check_every, refresh_every, proceed, iteration);
  std::vector<VectorResult> results(static_cast<std::size_t>(seen.vectors));
  results.front().idle = idle;
  results.front().refreshes = seen.status.refreshes;
  const runtime::HostView<double> history(state.history());
  for (int v = 0; v < seen.vectors; ++v) {
    VectorResult& result = results[static_cast<std::size_t>(v)];
    result.reason = static_cast<StopReason>(seen.stopped[v]);
    result.iterations = seen.iterations[v];
    for (int i = 0; i < result.iterations && i * seen.vectors + v < state.most_steps(); ++i)
      result.norm2.push_back(history[static_cast<std::size_t>(i * seen.vectors + v)]);
  }
  return results;
}

}  // namespace quarkstar
