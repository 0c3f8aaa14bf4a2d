// Conjugate gradient on the normal equations in the CGLS form (Hestenes and Stiefel 1952; Bjorck 1996, section 7.4):
// the residual of A x = b itself is carried along, so the solve stops on what the user asked for and squares no small
// number.
#include "codelets/field/blas.hpp"
#include "solvers/krylov/cgnr_steps.hpp"

namespace quarkstar {

KrylovResult cg_normal_equations(LinearOperator& a, const SpinorField& x, const SpinorField& r, const KrylovLimits& limits,
                                 const KrylovProgress& progress) {
  using namespace cgnr_steps;
  const SpinorField p(a.lattice(), a.parity()), q(a.lattice(), a.parity()), z(a.lattice(), a.parity());
  runtime::GraphState<State> state(initial_state<State>(limits), recorded_iterations(limits));
  runtime::PartialSums sums(static_cast<int>(a.lattice()->local_blocks().size()));
  const runtime::Handle* s = &state.handle();
  const auto alpha = state.coefficient(&State::alpha), beta = state.coefficient(&State::beta);

  blas::submit<blas::Fill>({&x}, {{{0, 0}}});
  blas::submit<blas::Norm>({&r}, {}, nullptr, &sums);
  runtime::submit_scalar<Begin>(state, &sums, 1);
  a.apply(p, r, {.norm = true}, true, nullptr);
  runtime::submit_scalar<Gamma>(state, &a.sums(), 1);

  return run_iterations(state, limits, progress, [&](bool refresh) {
    a.apply(q, p, {.norm = true}, false, s);                          // q = A p,  |q|^2
    runtime::submit_scalar<Alpha>(state, &a.sums(), 1);               // alpha = |s|^2 / |q|^2
    blas::submit<blas::AddScaledNorm>({&r, &q}, {-alpha}, s, &sums);  // r -= alpha q,  |r|^2
    runtime::submit_scalar<Residual>(state, &sums, 1);
    if (refresh) {
      const runtime::Guard due(s, runtime::When::refreshing);
      blas::submit<blas::AddScaled>({&x, &p}, {alpha}, due);
      limits.refresh.submit(x, r, due);  // y += x,  x = 0,  r = b - A y
      blas::submit<blas::Norm>({&r}, {}, due, &sums);
      runtime::submit_scalar<Refreshed>(state, &sums, 1);  // alpha = 0
    }
    a.apply(z, r, {.norm = true}, true, s);                                   // z = A^+ r,  |z|^2
    runtime::submit_scalar<Beta>(state, &a.sums(), 1);                        // beta = |z'|^2 / |z|^2
    blas::submit<blas::CgSolutionDirection>({&x, &p, &z}, {alpha, beta}, s);  // x += alpha p,  p = z + beta p
  });
}

}  // namespace quarkstar
