#pragma once
// The scalar steps of pipelined_cg.cpp: what happens to numbers between the vector operations, on a CPU or a GPU.
#include "solvers/krylov/krylov.hpp"

namespace quarkstar::pipelined_cg_steps {

struct State : KrylovState {
  static constexpr double iterations_a_digit = 1;            ///< below double precision a refresh is due at every place
  double rho[most_vectors]{}, previous_rho[most_vectors]{};  ///< |r|^2 now and one iteration ago
  double alpha[most_vectors]{}, beta[most_vectors]{};        ///< of the next iteration

  static constexpr int sums = blas::PipelinedCgUpdate::sums + blas::DotPair::sums;  ///< |r|^2, Re <r, w>, <r, s>, <p, s>

  /// alpha = |r|^2 / <p', A p'> of the iteration that comes, whose beta is known, p' = r + beta p. Not, as in the paper, by what <p', A p'>
  /// is where r is orthogonal to p: below double precision that takes a fifth more iterations, or does not converge.
  QUARKSTAR_HD void find_alpha(int v, const double* sum) {
    double p_a_p = sum[vectors + v];
    if (beta[v] != 0) p_a_p += beta[v] * (2 * sum[2 * vectors + v] + beta[v] * sum[4 * vectors + v]);
    alpha[v] = divide(v, rho[v], p_a_p);
  }
};

struct Begin : KrylovStep {  // from |r|^2, <r, A r>
  static constexpr const char* name = "pipelined_cg.begin";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    s.rho[v] = sums[v];
    s.beta[v] = 0;
    s.check_start(v, sums[v]);
    if (s.stopped[v] == 0) s.find_alpha(v, sums);
  }
};

struct Next : KrylovLastStep {  // beta = |r'|^2 / |r|^2 and alpha, from |r'|^2, <r', A r'>
  static constexpr const char* name = "pipelined_cg.next";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    const StopReason reason = s.verdict(v, sums[v]);
    const bool is_pause = s.is_pause(v, reason);
    if (reason != StopReason::running && !is_pause) return s.stop(v, reason, 1);
    s.previous_rho[v] = s.rho[v];
    s.rho[v] = sums[v];
    s.beta[v] = s.rho[v] / s.previous_rho[v];
    s.find_alpha(v, sums);
    if (is_pause) s.stop(v, reason);
    if (s.stopped[v] != 0) s.iterations[v] = s.status.step + 1;  // x has this iteration's part
    // Errors of the images grow whether |r| falls or not.
    if (s.drop2 > 0 && s.stopped[v] == 0) s.not_due[v] = 0;
  }
};

/// The same with the new residual; as in cg_steps::Refreshed the direction begins anew where most of that is error.
struct Refreshed : KrylovRefreshStep {
  static constexpr const char* name = "pipelined_cg.refreshed";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    s.beta[v] = sums[v] > 4 * s.rho[v] ? 0 : sums[v] / s.previous_rho[v];
    s.rho[v] = sums[v];
    s.find_alpha(v, sums);
    s.refreshed(v, sums[v]);
  }
};

}  // namespace quarkstar::pipelined_cg_steps
