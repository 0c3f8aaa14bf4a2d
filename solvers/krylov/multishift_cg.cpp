// Multi-shift conjugate gradient (Jegerlehner, hep-lat/9612014): the Krylov space of A serves A + shift for every
// shift. |r_s| of the shifted systems is recursive; refine where it must be true. An iteration: one application to one vector
// and 5 passes over x.
#include "runtime/system/error.hpp"
#include "solvers/krylov/multishift_cg_steps.hpp"

namespace quarkstar {

KrylovResults multishift_conjugate_gradient(LinearOperator& a, const Field& x, const Field& r, const KrylovLimits& limits,
                                            const KrylovProgress& progress) {
  using namespace multishift_cg_steps;
  if (a.vectors() != 1) throw ShapeError("multishift_conjugate_gradient", "the base system has one vector");
  const int n = x.vectors();
  const Field p = a.field(), q = a.field(), shifted_p = a.field(n);
  State start = initial_state<State>(limits, n);
  std::copy_n(limits.shifts.begin(), n, start.shift);
  runtime::GraphState<State> state(start, recorded_numbers(limits, n));
  const runtime::PartialSums sums = partial_sums_of(a, 1);
  const runtime::Guard shifted(&state.handle()), base = shifted.of_all_vectors();
  const auto alpha = blas::Coefficient::of(&State::base_alpha), beta = blas::Coefficient::of(&State::base_beta);
  const auto alpha_s = blas::Coefficient::of(&State::alpha), beta_s = blas::Coefficient::of(&State::beta),
             zeta_s = blas::Coefficient::of(&State::zeta);

  blas::submit<blas::Fill>({&x}, {0.0});
  blas::submit<blas::Scale>({&p, &r}, {1.0});
  blas::submit<blas::Scale>({&shifted_p, &r}, {1.0});
  blas::submit<blas::Norm>({&r}, {}, {}, &sums);
  runtime::submit_scalar<Begin>(state, &sums, 1);

  return run_iterations(state, limits, progress, [&](bool) {
    a.apply(q, p, {.y = &p, .imaginary = false}, false, base);                                               // q = A p,  <p, q>
    runtime::submit_scalar<Alpha>(state, &a.sums(), 1);                                                      // alpha, zeta_s, alpha_s
    blas::submit<blas::AddScaledNorm>({&r, &q}, {-alpha}, base, &sums);                                      // r -= alpha q,  |r|^2
    runtime::submit_scalar<Beta>(state, &sums, 1);                                                           // beta, beta_s
    blas::submit<blas::ShiftedSolutionDirection>({&x, &shifted_p, &r}, {alpha_s, zeta_s, beta_s}, shifted);  // x_s, p_s
    blas::submit<blas::Direction>({&p, &r}, {beta}, base);                                                   // p = r + beta p
  });
}

}  // namespace quarkstar
