#pragma once
// The scalar steps of cgnr.cpp: what happens to numbers between the vector operations, on a CPU or a GPU.
#include "solvers/krylov/krylov.hpp"

namespace quarkstar::cgnr_steps {

using runtime::ComplexScalar;

struct State : KrylovState {
  double gamma = 0;  ///< |A^+ r|^2
  ComplexScalar alpha, beta;
};

struct Begin {
  static constexpr const char* name = "cgnr.begin";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) { s.check_start(sums[0]); }
};

struct Gamma {  // gamma = |s|^2
  static constexpr const char* name = "cgnr.gamma";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) { s.gamma = sums[0]; }
};

struct Alpha {  // alpha = gamma / |A p|^2
  static constexpr const char* name = "cgnr.alpha";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    // x is updated after beta is known, together with p: the verdict on an iteration takes effect here, when x is complete.
    if (s.pending != StopReason::running) return s.stop(s.pending);
    s.alpha = divide(s, {s.gamma, 0}, {sums[0], 0});
  }
};

struct Residual {
  static constexpr const char* name = "cgnr.residual";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = true;
  static QUARKSTAR_HD double record(const State& s) { return s.norm2; }
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    s.pending = s.verdict(sums[0]);
    if (s.pending == StopReason::running) s.watch(sums[0]);
  }
};

struct Refreshed {  // alpha p is in the solution already
  static constexpr const char* name = "cgnr.refreshed";
  static constexpr bool on_cuda = true, refreshing = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    s.alpha = {};
    s.refreshed(sums[0]);
  }
};

struct Beta {  // beta = |A^+ r'|^2 / |A^+ r|^2
  static constexpr const char* name = "cgnr.beta";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    s.beta = {sums[0] / s.gamma, 0};
    s.gamma = sums[0];
  }
};

}  // namespace quarkstar::cgnr_steps
