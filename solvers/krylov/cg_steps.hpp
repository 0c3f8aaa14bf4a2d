#pragma once
// The scalar steps of cg.cpp: what happens to numbers between the vector operations, on a CPU or a GPU.
#include "solvers/krylov/krylov.hpp"

namespace quarkstar::cg_steps {

using runtime::ComplexScalar;

struct State : KrylovState {
  double rho = 0, previous = 0;  ///< |r|^2 now and one iteration ago
  ComplexScalar alpha, beta;
};

struct Begin {
  static constexpr const char* name = "cg.begin";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    s.rho = sums[0];
    s.check_start(sums[0]);
  }
};

struct Alpha {  // alpha = |r|^2 / <p, A p>
  static constexpr const char* name = "cg.alpha";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    // x is updated after beta is known, together with p: the verdict on an iteration takes effect here, when x is complete.
    if (s.pending != StopReason::running) return s.stop(s.pending);
    s.alpha = divide(s, {s.rho, 0}, {sums[0], 0});
  }
};

struct Beta {  // beta = |r'|^2 / |r|^2
  static constexpr const char* name = "cg.beta";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = true;
  static QUARKSTAR_HD double record(const State& s) { return s.norm2; }
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    s.pending = s.verdict(sums[0]);
    s.beta = {sums[0] / s.rho, 0};
    s.previous = s.rho;
    s.rho = sums[0];
    if (s.pending == StopReason::running) s.watch(sums[0]);
  }
};

struct Refreshed {  // beta with the new residual; alpha p is in the solution already
  static constexpr const char* name = "cg.refreshed";
  static constexpr bool on_cuda = true, refreshing = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    s.beta = {sums[0] / s.previous, 0};
    s.rho = sums[0];
    s.alpha = {};
    s.refreshed(sums[0]);
  }
};

}  // namespace quarkstar::cg_steps
