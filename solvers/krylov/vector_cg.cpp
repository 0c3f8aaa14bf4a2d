// Conjugate gradient (Hestenes and Stiefel 1952) for several right-hand sides together; each has its own alpha, beta
// and end.
#include "solvers/krylov/vector_cg_steps.hpp"

namespace quarkstar {

std::vector<VectorResult> conjugate_gradient(VectorOperator& a, const ColourField& x, const ColourField& r, const VectorLimits& limits,
                                             const VectorProgress& progress) {
  using namespace vector_cg_steps;
  const int n = a.vectors();
  const ColourField p(a.lattice(), a.parity(), n), q(a.lattice(), a.parity(), n);
  runtime::GraphState<State> state(initial_vector_state<State>(limits, n), recorded_numbers(limits, n));
  runtime::PartialSums sums(static_cast<int>(a.lattice()->local_blocks().size()), n);
  const Control s{&state.handle()};
  const auto alpha = VectorCoefficient::of(&State::alpha), beta = VectorCoefficient::of(&State::beta);

  staggered::submit<blas::Fill>({&x}, {0.0});
  staggered::submit<blas::Scale>({&p, &r}, {1.0});
  staggered::submit<blas::Norm>({&r}, {}, {}, &sums);
  runtime::submit_scalar<Begin>(state, &sums, n);

  return run_vector_iterations(state, limits, progress, [&](bool refresh) {
    a.apply(q, p, true, s);                                                // q = A p,  <p, q>
    runtime::submit_scalar<Alpha>(state, &a.sums(), n);                    // alpha = |r|^2 / <p, q>
    staggered::submit<blas::AddScaledNorm>({&r, &q}, {-alpha}, s, &sums);  // r -= alpha q,  |r|^2
    runtime::submit_scalar<Beta>(state, &sums, n);                         // beta = |r'|^2 / |r|^2
    if (refresh) {
      const Control due = s.refreshing();
      staggered::submit<blas::AddScaled>({&x, &p}, {alpha}, due);
      limits.refresh.submit(x, r, due);  // y += x,  x = 0,  r = b - A y
      staggered::submit<blas::Norm>({&r}, {}, due, &sums);
      runtime::submit_scalar<Refreshed>(state, &sums, n);  // beta anew, alpha = 0
    }
    staggered::submit<blas::CgSolutionDirection>({&x, &p, &r}, {alpha, beta}, s);  // x += alpha p,  p = r + beta p
  });
}

}  // namespace quarkstar
