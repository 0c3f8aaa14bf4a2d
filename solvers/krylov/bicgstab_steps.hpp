#pragma once
// The scalar steps of bicgstab.cpp: what happens to numbers between the vector operations, on a CPU or a GPU.
#include "solvers/krylov/krylov.hpp"

namespace quarkstar::bicgstab_steps {

using runtime::ComplexScalar;

struct State : KrylovState {
  ComplexScalar rho, alpha, omega, beta;
  ComplexScalar ratio;  ///< alpha / (rho omega): beta = rho' ratio
};

struct Begin {  // rho = <r0, r> = |r|^2
  static constexpr const char* name = "bicgstab.begin";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    s.rho = {sums[0], 0};
    s.check_start(sums[0]);
  }
};

struct Alpha {  // alpha = rho / <r0, v>
  static constexpr const char* name = "bicgstab.alpha";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) { s.alpha = divide(s, s.rho, {sums[0], sums[1]}); }
};

struct Omega {  // omega = <t, s> / |t|^2, from |t|^2 and <s, t>
  static constexpr const char* name = "bicgstab.omega";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    // t = A s = 0 means s = 0: alpha alone was the solution, and Rho will see that the residual is zero.
    s.omega = sums[0] == 0 ? ComplexScalar{} : divide(s, {sums[1], -sums[2]}, {sums[0], 0});
  }
};

struct Rho {  // beta = (rho' / rho) (alpha / omega), from |r|^2 and rho' = <r0, r>
  static constexpr const char* name = "bicgstab.rho";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = true;
  static QUARKSTAR_HD double record(const State& s) { return s.norm2; }
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    if (const StopReason reason = s.verdict(sums[0]); reason != StopReason::running) return s.stop(reason);
    const ComplexScalar rho{sums[1], sums[2]};
    const ComplexScalar step = divide(s, s.alpha, s.omega);
    s.beta = times(divide(s, rho, s.rho), step);
    s.ratio = divide(s, step, s.rho);
    s.rho = rho;
    s.watch(sums[0]);
  }
};

struct Refreshed {  // beta with the new residual, from |r|^2 and rho' = <r0, r>
  static constexpr const char* name = "bicgstab.refreshed";
  static constexpr bool on_cuda = true, refreshing = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    s.rho = {sums[1], sums[2]};
    s.beta = times(s.rho, s.ratio);
    s.refreshed(sums[0]);
  }
};

}  // namespace quarkstar::bicgstab_steps
