// BiCGStab (van der Vorst 1992), fused so that an iteration is two applications of A and three passes over vectors.
#include "solvers/krylov/bicgstab_steps.hpp"

namespace quarkstar {

KrylovResults bicgstab(LinearOperator& a, const Field& x, const Field& r, const KrylovLimits& limits, const KrylovProgress& progress) {
  using namespace bicgstab_steps;
  const int n = a.vectors();
  const Field r0 = a.field(), p = a.field(), v = a.field(), t = a.field();
  runtime::GraphState<State> state(initial_state<State>(limits, n), recorded_numbers(limits, n));
  const runtime::PartialSums sums = partial_sums_of(a, 3);
  const runtime::Guard s(&state.handle());
  const auto alpha = blas::Coefficient::of(&State::alpha), omega = blas::Coefficient::of(&State::omega),
             beta = blas::Coefficient::of(&State::beta);

  blas::submit<blas::Fill>({&x}, {0.0});
  blas::submit<blas::Scale>({&r0, &r}, {1.0});
  blas::submit<blas::Scale>({&p, &r}, {1.0});
  blas::submit<blas::Norm>({&r}, {}, {}, &sums);
  runtime::submit_scalar<Begin>(state, &sums, n);

  return run_iterations(state, limits, progress, [&](bool refresh) {
    a.apply(v, p, {.y = &r0}, false, s);                     // v = A p,  <r0, v>
    runtime::submit_scalar<Alpha>(state, &a.sums(), 2 * n);  // alpha = rho / <r0, v>
    blas::submit<blas::AddScaled>({&r, &v}, {-alpha}, s);    // r -= alpha v
    a.apply(t, r, {.norm = true, .y = &r}, false, s);        // t = A r,  |t|^2, <r, t>
    runtime::submit_scalar<Omega>(state, &a.sums(), 3 * n);  // omega = <t, r> / |t|^2
    blas::submit<blas::BicgstabSolutionResidual>({&x, &r, &p, &t, &r0}, {alpha, omega, -omega}, s,
                                                 &sums);  // x, r, |r|^2, <r0, r>
    runtime::submit_scalar<Rho>(state, &sums, 3 * n);     // beta = (rho' / rho) (alpha / omega)
    if (refresh) {
      const runtime::Guard due = s.refreshing();
      limits.refresh.submit(x, r, due);  // y += x,  x = 0,  r = b - A y
      blas::submit<blas::NormDot>({&r, &r0}, {}, due, &sums);
      runtime::submit_scalar<Refreshed>(state, &sums, 3 * n);  // beta anew
    }
    blas::submit<blas::BicgstabDirection>({&p, &r, &v}, {beta, -omega}, s);  // p = r + beta (p - omega v)
  });
}

}  // namespace quarkstar
