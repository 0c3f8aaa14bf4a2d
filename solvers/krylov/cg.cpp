// Conjugate gradient (Hestenes and Stiefel 1952) for hermitian positive operators; each vector has its own alpha, beta and end. An
// iteration: one application, three passes over vectors.
#include "solvers/krylov/cg_steps.hpp"

namespace quarkstar {

KrylovResults conjugate_gradient(LinearOperator& a, const Field& x, const Field& r, const KrylovLimits& limits,
                                 const KrylovProgress& progress) {
  using namespace cg_steps;
  const int n = a.vectors();
  const Field p = a.field(), q = a.field();
  runtime::GraphState<State> state(initial_state<State>(limits, n), recorded_numbers(limits, n));
  const runtime::PartialSums sums = partial_sums_of(a, 1);
  const runtime::Guard s(&state.handle());
  const auto alpha = blas::Coefficient::of(&State::alpha), beta = blas::Coefficient::of(&State::beta);

  blas::submit<blas::Fill>({&x}, {0.0});
  blas::submit<blas::Scale>({&p, &r}, {1.0});
  blas::submit<blas::Norm>({&r}, {}, {}, &sums);
  runtime::submit_scalar<Begin>(state, &sums, n);

  return run_iterations(state, limits, progress, [&](bool refresh) {
    a.apply(q, p, {.y = &p, .imaginary = false}, false, s);           // q = A p,  <p, q>
    runtime::submit_scalar<Alpha>(state, &a.sums(), n);               // alpha = |r|^2 / <p, q>
    blas::submit<blas::AddScaledNorm>({&r, &q}, {-alpha}, s, &sums);  // r -= alpha q,  |r|^2
    runtime::submit_scalar<Beta>(state, &sums, n);                    // beta = |r'|^2 / |r|^2
    if (refresh) {
      const runtime::Guard due = s.refreshing();
      blas::submit<blas::AddScaled>({&x, &p}, {alpha}, due);
      limits.refresh.submit(x, r, due);  // y += x,  x = 0,  r = b - A y
      blas::submit<blas::Norm>({&r}, {}, due, &sums);
      runtime::submit_scalar<Refreshed>(state, &sums, n);  // beta anew, alpha = 0
    }
    blas::submit<blas::CgSolutionDirection>({&x, &p, &r}, {alpha, beta}, s);  // x += alpha p,  p = r + beta p
  });
}

}  // namespace quarkstar
