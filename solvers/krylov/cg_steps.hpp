#pragma once
// The scalar steps of cg.cpp: what happens to numbers between the vector operations, on a CPU or a GPU.
#include "solvers/krylov/krylov.hpp"

namespace quarkstar::cg_steps {

struct State : KrylovState {
  static constexpr double iterations_a_digit = 200;
  double rho[most_vectors]{}, previous[most_vectors]{};  ///< |r|^2 now and one iteration ago
  double alpha[most_vectors]{}, beta[most_vectors]{};
};

struct Begin : KrylovStep {
  static constexpr const char* name = "cg.begin";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    s.rho[v] = sums[v];
    s.check_start(v, sums[v]);
  }
};

struct Alpha : KrylovStep {  // alpha = |r|^2 / <p, A p>
  static constexpr const char* name = "cg.alpha";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    // x is updated after beta is known, together with p: the verdict on an iteration takes effect here, when x is complete.
    if (!s.take_pending(v)) s.alpha[v] = s.divide(v, s.rho[v], sums[v]);
  }
};

struct Beta : KrylovLastStep {  // beta = |r'|^2 / |r|^2
  static constexpr const char* name = "cg.beta";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    s.note(v, s.alpha[v]);  // as it is after its use
    s.pending[v] = s.verdict(v, sums[v]);
    s.beta[v] = sums[v] / s.rho[v];
    s.previous[v] = s.rho[v];
    s.rho[v] = sums[v];
    if (s.pending[v] == StopReason::running) s.watch(v, sums[v]);
  }
};

/// beta with the new residual; alpha p is in the solution already. Where that is more than twice as long as the recursion
/// says, most of it is error that p knows nothing of: the next direction is r alone. With beta, which is then far above 1,
/// it would be p again for hundreds of iterations.
struct Refreshed : KrylovRefreshStep {
  static constexpr const char* name = "cg.refreshed";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    s.beta[v] = sums[v] > 4 * s.rho[v] ? 0 : sums[v] / s.previous[v];
    s.rho[v] = sums[v];
    s.alpha[v] = 0;
    s.refreshed(v, sums[v]);
  }
};

}  // namespace quarkstar::cg_steps
