// Multi-shift conjugate gradient (Jegerlehner, hep-lat/9612014): the Krylov space of A serves A + shift for every
// shift.
#include "runtime/system/error.hpp"
#include "solvers/krylov/multishift_cg_steps.hpp"

namespace quarkstar {

std::vector<VectorResult> multishift_conjugate_gradient(VectorOperator& a, const ColourField& x, const ColourField& r,
                                                        const PerVector& shifts, const VectorLimits& limits,
                                                        const VectorProgress& progress) {
  using namespace multishift_cg_steps;
  if (a.vectors() != 1) throw ShapeError("multishift_conjugate_gradient", "the base system has one vector");
  const int n = x.vectors();
  const ColourField p(a.lattice(), a.parity(), 1), q(a.lattice(), a.parity(), 1), shifted_p(a.lattice(), a.parity(), n);
  State start = initial_vector_state<State>(limits, n);
  std::copy_n(shifts.begin(), n, start.shift);
  runtime::GraphState<State> state(start, recorded_numbers(limits, n));
  runtime::PartialSums sums(static_cast<int>(a.lattice()->local_blocks().size()), 1);
  const Control shifted{&state.handle()}, base{&state.handle(), false};
  const auto alpha = VectorCoefficient::of(&State::base_alpha), beta = VectorCoefficient::of(&State::base_beta);
  const auto alpha_s = VectorCoefficient::of(&State::alpha), beta_s = VectorCoefficient::of(&State::beta),
             zeta_s = VectorCoefficient::of(&State::zeta);

  staggered::submit<blas::Fill>({&x}, {0.0});
  staggered::submit<blas::Scale>({&p, &r}, {1.0});
  staggered::submit<blas::Scale>({&shifted_p, &r}, {1.0});
  staggered::submit<blas::Norm>({&r}, {}, {}, &sums);
  runtime::submit_scalar<Begin>(state, &sums, 1);

  return run_vector_iterations(state, limits, progress, [&](bool) {
    a.apply(q, p, true, base);                                                // q = A p,  <p, q>
    runtime::submit_scalar<Alpha>(state, &a.sums(), 1);                       // alpha, zeta_s, alpha_s
    staggered::submit<blas::AddScaledNorm>({&r, &q}, {-alpha}, base, &sums);  // r -= alpha q,  |r|^2
    runtime::submit_scalar<Beta>(state, &sums, 1);                            // beta, beta_s
    staggered::submit<staggered::ShiftedSolutionDirection>({&x, &shifted_p, &r}, {alpha_s, zeta_s, beta_s},
                                                           shifted);  // x_s, p_s
    staggered::submit<staggered::Direction>({&p, &r}, {beta}, base);  // p = r + beta p
  });
}

}  // namespace quarkstar
