// Conjugate gradient (Hestenes and Stiefel 1952) for hermitian positive operators.
#include "codelets/blas/blas.hpp"
#include "solvers/krylov.hpp"

namespace quarkstar {
namespace {

using runtime::ComplexScalar;

struct State : KrylovState {
  double rho = 0;  ///< |r|^2
  ComplexScalar alpha, beta;
};

struct Begin {
  static constexpr const char* name = "cg.begin";
  static constexpr bool ends_iteration = false;
  static void run(State& s, const double* sums) {
    s.rho = sums[0];
    s.check_start(sums[0]);
  }
};

struct Alpha {  // alpha = |r|^2 / <p, A p>
  static constexpr const char* name = "cg.alpha";
  static constexpr bool ends_iteration = false;
  static void run(State& s, const double* sums) {
    // x is updated after beta is known, together with p: the verdict on an iteration takes effect here, when x is complete.
    if (s.pending != StopReason::running) return s.stop(s.pending);
    s.alpha = divide(s, {s.rho, 0}, {sums[0], 0});
  }
};

struct Beta {  // beta = |r'|^2 / |r|^2
  static constexpr const char* name = "cg.beta";
  static constexpr bool ends_iteration = true;
  static double record(const State& s) { return s.norm2; }
  static void run(State& s, const double* sums) {
    s.pending = s.verdict(sums[0]);
    s.beta = {sums[0] / s.rho, 0};
    s.rho = sums[0];
  }
};

}  // namespace

KrylovResult conjugate_gradient(LinearOperator& a, const SpinorField& x, const SpinorField& r, const KrylovLimits& limits,
                                const KrylovProgress& progress) {
  const SpinorField p(a.lattice(), a.parity()), q(a.lattice(), a.parity());
  runtime::GraphState<State> state(initial_state<State>(limits), limits.most_iterations);
  runtime::PartialSums sums(a.lattice()->block_count());
  const runtime::Handle* s = &state.handle();
  const auto alpha = state.coefficient(&State::alpha), beta = state.coefficient(&State::beta);

  blas::submit<blas::Fill>({&x}, {{{0, 0}}});
  blas::submit<blas::Scale>({&p, &r}, {{{1, 0}}});
  blas::submit<blas::Norm>({&r}, {}, nullptr, &sums);
  runtime::submit_scalar<Begin>(state, &sums, 1);

  return run_iterations(state, limits, progress, [&] {
    a.apply(q, p, {.y = &p}, false, s);                                          // q = A p,  <p, q>
    runtime::submit_scalar<Alpha>(state, &a.sums(), 1);                          // alpha = |r|^2 / <p, q>
    blas::submit<blas::AddScaledNorm>({&r, &q}, {-alpha}, s, &sums);             // r -= alpha q,  |r|^2
    runtime::submit_scalar<Beta>(state, &sums, 1);                               // beta = |r'|^2 / |r|^2
    blas::submit<blas::CgSolutionDirection>({&x, &p, &r}, {alpha, beta}, s);     // x += alpha p,  p = r + beta p
  });
}

}  // namespace quarkstar
