#pragma once
// The scalar steps of bicgstab.cpp: what happens to numbers between the vector operations, on a CPU or a GPU.
#include "solvers/krylov/krylov.hpp"

namespace quarkstar::bicgstab_steps {

using runtime::ComplexScalar;

struct State : KrylovState {
  ComplexScalar rho[most_vectors], alpha[most_vectors], omega[most_vectors], beta[most_vectors];
  ComplexScalar ratio[most_vectors];  ///< alpha / (rho omega): beta = rho' ratio
};

struct Begin : KrylovStep {  // rho = <r0, r> = |r|^2
  static constexpr const char* name = "bicgstab.begin";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    s.rho[v] = {sums[v], 0};
    s.check_start(v, sums[v]);
  }
};

struct Alpha : KrylovStep {  // alpha = rho / <r0, v>
  static constexpr const char* name = "bicgstab.alpha";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) { s.alpha[v] = divide(s, v, s.rho[v], {sums[v], sums[s.vectors + v]}); }
};

struct Omega : KrylovStep {  // omega = <t, s> / |t|^2, from |t|^2 and <s, t>
  static constexpr const char* name = "bicgstab.omega";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    const int n = s.vectors;
    // t = A s = 0 means s = 0: alpha alone was the solution, and Rho will see that the residual is zero.
    s.omega[v] = sums[v] == 0 ? ComplexScalar{} : divide(s, v, {sums[n + v], -sums[2 * n + v]}, {sums[v], 0});
  }
};

struct Rho : KrylovLastStep {  // beta = (rho' / rho) (alpha / omega), from |r|^2 and rho' = <r0, r>
  static constexpr const char* name = "bicgstab.rho";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    const StopReason reason = s.verdict(v, sums[v]);
    if (s.is_pause(v, reason)) s.pending[v] = reason;  // behind the direction from which it goes on
    else if (reason != StopReason::running) return s.stop(v, reason, 1);
    const ComplexScalar rho{sums[s.vectors + v], sums[2 * s.vectors + v]};
    const ComplexScalar step = divide(s, v, s.alpha[v], s.omega[v]);
    s.beta[v] = times(divide(s, v, rho, s.rho[v]), step);
    s.ratio[v] = divide(s, v, step, s.rho[v]);
    if (s.stopped[v] != 0) s.iterations[v] = s.status.step + 1;  // x has this iteration's part
    s.rho[v] = rho;
    s.watch(v, sums[v]);
  }
};

struct Refreshed : KrylovRefreshStep {  // beta with the new residual, from |r|^2 and rho' = <r0, r>
  static constexpr const char* name = "bicgstab.refreshed";
  static QUARKSTAR_HD void run(State& s, int v, const double* sums) {
    s.rho[v] = {sums[s.vectors + v], sums[2 * s.vectors + v]};
    s.beta[v] = times(s.rho[v], s.ratio[v]);
    s.refreshed(v, sums[v]);
  }
};

}  // namespace quarkstar::bicgstab_steps
