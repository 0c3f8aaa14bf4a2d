// Conjugate gradient on the normal equations in the CGLS form (Hestenes and Stiefel 1952; Bjorck 1996, section 7.4): the residual of
// A x = b itself is carried along, so the solve stops on what the user asked for and squares no small number.
#include "codelets/blas/blas.hpp"
#include "solvers/krylov.hpp"

namespace quarkstar {
namespace {

using runtime::ComplexScalar;

struct State : KrylovState {
  double gamma = 0;  ///< |A^+ r|^2
  ComplexScalar alpha, beta;
};

struct Begin {
  static constexpr const char* name = "cgnr.begin";
  static constexpr bool ends_iteration = false;
  static void run(State& s, const double* sums) { s.check_start(sums[0]); }
};

struct Gamma {  // gamma = |s|^2
  static constexpr const char* name = "cgnr.gamma";
  static constexpr bool ends_iteration = false;
  static void run(State& s, const double* sums) { s.gamma = sums[0]; }
};

struct Alpha {  // alpha = gamma / |A p|^2
  static constexpr const char* name = "cgnr.alpha";
  static constexpr bool ends_iteration = false;
  static void run(State& s, const double* sums) {
    // x is updated after beta is known, together with p: the verdict on an iteration takes effect here, when x is complete.
    if (s.pending != StopReason::running) return s.stop(s.pending);
    s.alpha = divide(s, {s.gamma, 0}, {sums[0], 0});
  }
};

struct Residual {
  static constexpr const char* name = "cgnr.residual";
  static constexpr bool ends_iteration = true;
  static double record(const State& s) { return s.norm2; }
  static void run(State& s, const double* sums) { s.pending = s.verdict(sums[0]); }
};

struct Beta {  // beta = |A^+ r'|^2 / |A^+ r|^2
  static constexpr const char* name = "cgnr.beta";
  static constexpr bool ends_iteration = false;
  static void run(State& s, const double* sums) {
    s.beta = {sums[0] / s.gamma, 0};
    s.gamma = sums[0];
  }
};

}  // namespace

KrylovResult cg_normal_equations(LinearOperator& a, const SpinorField& x, const SpinorField& r, const KrylovLimits& limits,
                                 const KrylovProgress& progress) {
  const SpinorField p(a.lattice(), a.parity()), q(a.lattice(), a.parity()), z(a.lattice(), a.parity());
  runtime::GraphState<State> state(initial_state<State>(limits), limits.most_iterations);
  runtime::PartialSums sums(a.lattice()->block_count());
  const runtime::Handle* s = &state.handle();
  const auto alpha = state.coefficient(&State::alpha), beta = state.coefficient(&State::beta);

  blas::submit<blas::Fill>({&x}, {{{0, 0}}});
  blas::submit<blas::Norm>({&r}, {}, nullptr, &sums);
  runtime::submit_scalar<Begin>(state, &sums, 1);
  a.apply(p, r, {.norm = true}, true, nullptr);
  runtime::submit_scalar<Gamma>(state, &a.sums(), 1);

  return run_iterations(state, limits, progress, [&] {
    a.apply(q, p, {.norm = true}, false, s);                                   // q = A p,  |q|^2
    runtime::submit_scalar<Alpha>(state, &a.sums(), 1);                        // alpha = |s|^2 / |q|^2
    blas::submit<blas::AddScaledNorm>({&r, &q}, {-alpha}, s, &sums);           // r -= alpha q,  |r|^2
    runtime::submit_scalar<Residual>(state, &sums, 1);
    a.apply(z, r, {.norm = true}, true, s);                                    // z = A^+ r,  |z|^2
    runtime::submit_scalar<Beta>(state, &a.sums(), 1);                         // beta = |z'|^2 / |z|^2
    blas::submit<blas::CgSolutionDirection>({&x, &p, &z}, {alpha, beta}, s);   // x += alpha p,  p = z + beta p
  });
}

}  // namespace quarkstar
