// Conjugate gradient (Hestenes and Stiefel 1952) for hermitian positive operators.
#include "codelets/field/blas.hpp"
#include "solvers/krylov/cg_steps.hpp"

namespace quarkstar {

KrylovResult conjugate_gradient(LinearOperator& a, const SpinorField& x, const SpinorField& r, const KrylovLimits& limits,
                                const KrylovProgress& progress) {
  using namespace cg_steps;
  const SpinorField p(a.lattice(), a.parity()), q(a.lattice(), a.parity());
  runtime::GraphState<State> state(initial_state<State>(limits), recorded_iterations(limits));
  runtime::PartialSums sums(static_cast<int>(a.lattice()->local_blocks().size()));
  const runtime::Handle* s = &state.handle();
  const auto alpha = state.coefficient(&State::alpha), beta = state.coefficient(&State::beta);

  blas::submit<blas::Fill>({&x}, {{{0, 0}}});
  blas::submit<blas::Scale>({&p, &r}, {{{1, 0}}});
  blas::submit<blas::Norm>({&r}, {}, nullptr, &sums);
  runtime::submit_scalar<Begin>(state, &sums, 1);

  return run_iterations(state, limits, progress, [&](bool refresh) {
    a.apply(q, p, {.y = &p}, false, s);                               // q = A p,  <p, q>
    runtime::submit_scalar<Alpha>(state, &a.sums(), 1);               // alpha = |r|^2 / <p, q>
    blas::submit<blas::AddScaledNorm>({&r, &q}, {-alpha}, s, &sums);  // r -= alpha q,  |r|^2
    runtime::submit_scalar<Beta>(state, &sums, 1);                    // beta = |r'|^2 / |r|^2
    if (refresh) {
      const runtime::Guard due(s, runtime::When::refreshing);
      blas::submit<blas::AddScaled>({&x, &p}, {alpha}, due);
      limits.refresh.submit(x, r, due);  // y += x,  x = 0,  r = b - A y
      blas::submit<blas::Norm>({&r}, {}, due, &sums);
      runtime::submit_scalar<Refreshed>(state, &sums, 1);  // beta anew, alpha = 0
    }
    blas::submit<blas::CgSolutionDirection>({&x, &p, &r}, {alpha, beta}, s);  // x += alpha p,  p = r + beta p
  });
}

}  // namespace quarkstar
