#pragma once
// The scalar steps of multishift_cg.cpp. zeta_s is the factor between the residual of a shifted system and that of the base: r_s = zeta_s
// r.
#include "solvers/krylov/krylov.hpp"

namespace quarkstar::multishift_cg_steps {

/// Vectors are the shifted systems; the base system has numbers of its own.
struct State : KrylovState {
  double rho = 0, previous_alpha = 1, previous_beta = 0;
  double base_alpha[most_vectors]{}, base_beta[most_vectors]{};  ///< only the first is used
  double shift[most_vectors]{};
  double zeta[most_vectors]{}, previous_zeta[most_vectors]{};
  double alpha[most_vectors]{}, beta[most_vectors]{};
};

struct Begin : KrylovStep {
  static constexpr const char* name = "multishift_cg.begin";
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    s.rho = sums[0];
    for (int v = 0; v < s.vectors; ++v) {
      s.zeta[v] = s.previous_zeta[v] = 1;
      s.check_start(v, sums[0]);
    }
    s.settle();
  }
};

struct Alpha : KrylovStep {  // alpha = |r|^2 / <p, A p>;  zeta' and alpha_s = alpha zeta' / zeta
  static constexpr const char* name = "multishift_cg.alpha";
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    double alpha = 0;
    for (int v = 0; v < s.vectors; ++v) {
      if (s.take_pending(v)) continue;
      alpha = s.divide(v, s.rho, sums[0]);
      const double z = s.zeta[v], zp = s.previous_zeta[v];
      const double next =
          s.divide(v, z * zp * s.previous_alpha, alpha * s.previous_beta * (zp - z) + zp * s.previous_alpha * (1 + s.shift[v] * alpha));
      s.previous_zeta[v] = z;
      s.zeta[v] = next;
      s.alpha[v] = alpha * next / z;
    }
    s.base_alpha[0] = alpha;
    s.settle();
  }
};

struct Beta : KrylovLastStep {  // beta = |r'|^2 / |r|^2;  beta_s = beta (zeta' / zeta)^2;  |r_s| = zeta' |r'|
  static constexpr const char* name = "multishift_cg.beta";
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    const double beta = sums[0] / s.rho;
    bool any_has_far_to_go = false;
    for (int v = 0; v < s.vectors; ++v) {
      if (s.stopped[v] != 0) continue;
      const double ratio = s.zeta[v] / s.previous_zeta[v];
      s.beta[v] = beta * ratio * ratio;
      s.pending[v] = s.verdict(v, s.zeta[v] * s.zeta[v] * sums[0]);
      any_has_far_to_go = any_has_far_to_go || (s.target[v] > 0 && s.pending[v] == StopReason::running);
    }
    for (int v = 0; v < s.vectors && !any_has_far_to_go; ++v)  // a target of 0: as long as those with another one
      if (s.pending[v] == StopReason::running) s.pending[v] = StopReason::converged;
    s.previous_alpha = s.base_alpha[0];
    s.previous_beta = s.base_beta[0] = beta;
    s.rho = sums[0];
  }
};

}  // namespace quarkstar::multishift_cg_steps
