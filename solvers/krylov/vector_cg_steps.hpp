#pragma once
// The scalar steps of vector_cg.cpp: what happens to numbers between the vector operations, on a CPU or a GPU.
#include "solvers/krylov/vector_krylov.hpp"

namespace quarkstar::vector_cg_steps {

struct State : VectorKrylovState {
  double rho[most_vectors]{}, previous[most_vectors]{};  ///< |r|^2 now and one iteration ago
  double alpha[most_vectors]{}, beta[most_vectors]{};
};

struct Begin {
  static constexpr const char* name = "vector_cg.begin";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    for (int v = 0; v < s.vectors; ++v) {
      s.rho[v] = sums[v];
      s.check_start(v, sums[v]);
    }
    s.settle();
  }
};

struct Alpha {  // alpha = |r|^2 / <p, A p>
  static constexpr const char* name = "vector_cg.alpha";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    s.take_pending();
    for (int v = 0; v < s.vectors; ++v)
      if (s.stopped[v] == 0) s.alpha[v] = s.divide(v, s.rho[v], sums[v]);
    s.settle();
  }
};

struct Beta {  // beta = |r'|^2 / |r|^2
  static constexpr const char* name = "vector_cg.beta";
  static constexpr bool on_cuda = true;
  static constexpr bool ends_iteration = true;
  static QUARKSTAR_HD double record(const State& s, int v) { return s.norm2[v]; }
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    for (int v = 0; v < s.vectors; ++v) {
      if (s.stopped[v] != 0) continue;
      s.pending[v] = s.verdict(v, sums[v]);
      s.beta[v] = sums[v] / s.rho[v];
      s.previous[v] = s.rho[v];
      s.rho[v] = sums[v];
      if (s.pending[v] == StopReason::running) s.watch(v, sums[v]);
    }
  }
};

/// beta with the new residual; alpha p is in the solution already. Where that is more than twice as long as the recursion
/// says, most of it is error that p knows nothing of: the next direction is r alone. With beta, which is then far above 1,
/// it would be p again for hundreds of iterations.
struct Refreshed {
  static constexpr const char* name = "vector_cg.refreshed";
  static constexpr bool on_cuda = true, refreshing = true;
  static constexpr bool ends_iteration = false;
  static QUARKSTAR_HD void run(State& s, const double* sums) {
    for (int v = 0; v < s.vectors; ++v) {
      if (s.not_due[v] != 0) continue;
      s.beta[v] = sums[v] > 4 * s.rho[v] ? 0 : sums[v] / s.previous[v];
      s.rho[v] = sums[v];
      s.alpha[v] = 0;
      s.refreshed(v, sums[v]);
    }
  }
};

}  // namespace quarkstar::vector_cg_steps
