// Conjugate gradient on the normal equations in the CGLS form (Hestenes and Stiefel 1952; Bjorck 1996, section 7.4):
// the residual of A x = b itself is carried along, so the solve stops on what the user asked for and squares no small
// number.
#include "solvers/krylov/cgnr_steps.hpp"

namespace quarkstar {

KrylovResults cg_normal_equations(LinearOperator& a, const Field& x, const Field& r, const KrylovLimits& limits,
                                  const KrylovProgress& progress) {
  using namespace cgnr_steps;
  const int n = a.vectors();
  const Field p = a.field(), q = a.field(), z = a.field();
  runtime::GraphState<State> state(initial_state<State>(limits, n), recorded_numbers(limits, n));
  const runtime::PartialSums sums = partial_sums_of(a, 1);
  const runtime::Guard s(&state.handle());
  const auto alpha = blas::Coefficient::of(&State::alpha), beta = blas::Coefficient::of(&State::beta);

  blas::submit<blas::Fill>({&x}, {0.0});
  blas::submit<blas::Norm>({&r}, {}, {}, &sums);
  runtime::submit_scalar<Begin>(state, &sums, n);
  a.apply(p, r, {.norm = true}, true, {});
  runtime::submit_scalar<Gamma>(state, &a.sums(), n);

  return run_iterations(state, limits, progress, [&](bool refresh) {
    a.apply(q, p, {.norm = true}, false, s);                          // q = A p,  |q|^2
    runtime::submit_scalar<Alpha>(state, &a.sums(), n);               // alpha = |s|^2 / |q|^2
    blas::submit<blas::AddScaledNorm>({&r, &q}, {-alpha}, s, &sums);  // r -= alpha q,  |r|^2
    runtime::submit_scalar<Residual>(state, &sums, n);
    if (refresh) {
      const runtime::Guard due = s.refreshing();
      blas::submit<blas::AddScaled>({&x, &p}, {alpha}, due);
      limits.refresh.submit(x, r, due);  // y += x,  x = 0,  r = b - A y
      blas::submit<blas::Norm>({&r}, {}, due, &sums);
      runtime::submit_scalar<Refreshed>(state, &sums, n);  // alpha = 0
    }
    a.apply(z, r, {.norm = true}, true, s);                                   // z = A^+ r,  |z|^2
    runtime::submit_scalar<Beta>(state, &a.sums(), n);                        // beta = |z'|^2 / |z|^2
    blas::submit<blas::CgSolutionDirection>({&x, &p, &z}, {alpha, beta}, s);  // x += alpha p,  p = z + beta p
  });
}

}  // namespace quarkstar
