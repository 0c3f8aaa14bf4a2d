#pragma once
// The scalar steps of cgnr.cpp: what happens to numbers between the vector operations, on a CPU or a GPU.
#include "solvers/krylov/krylov.hpp"

namespace quarkstar::cgnr_steps {

struct State : KrylovState {
  double gamma[most_vectors]{};  ///< |A^+ r|^2
  double alpha[most_vectors]{}, beta[most_vectors]{};
};

struct Begin : KrylovStep {
  static constexpr const char* name = "cgnr.begin";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) { s.check_start(v, sums[v]); }
};

struct Gamma : KrylovStep {  // gamma = |s|^2
  static constexpr const char* name = "cgnr.gamma";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) { s.gamma[v] = sums[v]; }
};

struct Alpha : KrylovStep {  // alpha = gamma / |A p|^2
  static constexpr const char* name = "cgnr.alpha";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    // x is updated after beta is known, together with p: the verdict on an iteration takes effect here, when x is complete.
    if (!s.take_pending(v)) s.alpha[v] = divide(s, v, {s.gamma[v], 0}, {sums[v], 0}).re;
  }
};

struct Residual : KrylovLastStep {
  static constexpr const char* name = "cgnr.residual";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    s.note(v, s.alpha[v]);  // as it is after its use
    s.pending[v] = s.verdict(v, sums[v]);
    if (s.pending[v] == StopReason::running) s.watch(v, sums[v]);
  }
};

struct Refreshed : KrylovRefreshStep {  // alpha p is in the solution already
  static constexpr const char* name = "cgnr.refreshed";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    s.alpha[v] = 0;
    s.refreshed(v, sums[v]);
  }
};

struct Beta : KrylovStep {  // beta = |A^+ r'|^2 / |A^+ r|^2
  static constexpr const char* name = "cgnr.beta";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    s.beta[v] = sums[v] / s.gamma[v];
    s.gamma[v] = sums[v];
  }
};

}  // namespace quarkstar::cgnr_steps
