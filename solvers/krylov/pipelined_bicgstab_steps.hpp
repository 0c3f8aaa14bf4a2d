#pragma once
// The scalar steps of pipelined_bicgstab.cpp: what happens to numbers between the vector operations, on a CPU or a GPU.
#include "solvers/krylov/krylov.hpp"

namespace quarkstar::pipelined_bicgstab_steps {

using runtime::ComplexScalar;

struct State : KrylovState {
  ComplexScalar rho[most_vectors], alpha[most_vectors], omega[most_vectors], beta[most_vectors];
  ComplexScalar ratio[most_vectors];                     ///< alpha / (rho omega): beta = rho' ratio
  ComplexScalar r0_s[most_vectors], r0_z[most_vectors];  ///< <r0, s>, <r0, z>

  /// beta and alpha of the iteration that comes, from rho = <r0, r> and <r0, w>: alpha = rho / <r0, s'> with s' = w + beta (s - omega z).
  QUARKSTAR_HD void find_direction(int v, const ComplexScalar& r0_w) {
    beta[v] = times(rho[v], ratio[v]);
    const ComplexScalar of_z = times(omega[v], r0_z[v]), of_s = times(beta[v], {r0_s[v].re - of_z.re, r0_s[v].im - of_z.im});
    alpha[v] = quarkstar::divide(*this, v, rho[v], {r0_w.re + of_s.re, r0_w.im + of_s.im});
  }
};

struct Begin : KrylovStep {  // rho = |r|^2, alpha = rho / <r, w>, from |r|^2 and <w, r>
  static constexpr const char* name = "pipelined_bicgstab.begin";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    s.rho[v] = {sums[v], 0};
    s.beta[v] = s.omega[v] = {};
    s.check_start(v, sums[v]);
    if (s.stopped[v] == 0) s.alpha[v] = divide(s, v, s.rho[v], {sums[s.vectors + v], -sums[2 * s.vectors + v]});
  }
};

struct Omega : KrylovStep {  // omega = <y, q> / |y|^2, from |y|^2, <q, y>, <r0, s>, <r0, z>
  static constexpr const char* name = "pipelined_bicgstab.omega";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    const int n = s.vectors;
    // y = A q = 0 means q = 0: alpha alone was the solution, and Next will see that the residual is zero.
    s.omega[v] = sums[v] == 0 ? ComplexScalar{} : divide(s, v, {sums[n + v], -sums[2 * n + v]}, {sums[v], 0});
    s.r0_s[v] = {sums[3 * n + v], sums[4 * n + v]};
    s.r0_z[v] = {sums[5 * n + v], sums[6 * n + v]};
  }
};

struct Next : KrylovLastStep {  // beta and alpha, from |r|^2, <r0, r>, <r0, w>
  static constexpr const char* name = "pipelined_bicgstab.next";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    const int n = s.vectors;
    const StopReason reason = s.verdict(v, sums[v]);
    const bool is_pause = s.is_pause(v, reason);
    if (reason != StopReason::running && !is_pause) return s.stop(v, reason, 1);
    s.ratio[v] = divide(s, v, divide(s, v, s.alpha[v], s.omega[v]), s.rho[v]);
    s.rho[v] = {sums[n + v], sums[2 * n + v]};
    s.find_direction(v, {sums[3 * n + v], sums[4 * n + v]});
    if (is_pause) s.stop(v, reason);
    if (s.stopped[v] != 0) s.iterations[v] = s.status.step + 1;  // x has this iteration's part
    s.watch(v, sums[v]);
  }
};

struct Refreshed : KrylovRefreshStep {  // the same with the new residual
  static constexpr const char* name = "pipelined_bicgstab.refreshed";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    const int n = s.vectors;
    s.rho[v] = {sums[n + v], sums[2 * n + v]};
    s.find_direction(v, {sums[3 * n + v], sums[4 * n + v]});
    s.refreshed(v, sums[v]);
  }
};

}  // namespace quarkstar::pipelined_bicgstab_steps
