// Block conjugate gradient in Dubrulle's form with orthonormal residual blocks (BlockCGrQ).
#include "solvers/krylov/block_cg_steps.hpp"

namespace quarkstar {

std::vector<VectorResult> block_conjugate_gradient(VectorOperator& a, const ColourField& x, const ColourField& r,
                                                   const VectorLimits& limits, const VectorProgress& progress) {
  using namespace block_cg_steps;
  using staggered::block_gram;
  using staggered::block_multiply;
  const int n = a.vectors(), entries = n * n;
  const ColourField p(a.lattice(), a.parity(), n), z(a.lattice(), a.parity(), n);
  const ColourField& q = r;
  State start = initial_vector_state<State>(limits, n);
  start.resolution = limits.resolution;
  runtime::GraphState<State> state(start, recorded_numbers(limits, n));
  runtime::PartialSums sums(static_cast<int>(a.lattice()->local_blocks().size()), entries);
  const runtime::Handle& s = state.handle();
  const auto orthonormal = BlockMatrix::of(&State::orthonormal), direction = BlockMatrix::of(&State::direction),
             minus_alpha = BlockMatrix::of(&State::minus_alpha), solution = BlockMatrix::of(&State::solution);

  staggered::submit<blas::Fill>({&x}, {0.0});
  block_gram(r, r, sums, s);
  runtime::submit_scalar<Begin>(state, &sums, entries);  // Q C = R
  block_multiply(q, nullptr, r, orthonormal, s);         // Q = R T
  staggered::submit<blas::Scale>({&p, &q}, {1.0});       // P = Q

  return run_vector_iterations(state, limits, progress, [&](bool) {
    a.apply(z, p, false, Control(&s, false));  // Z = A P
    block_gram(p, z, sums, s);
    runtime::submit_scalar<Alpha>(state, &sums, entries);  // alpha = (P^+ Z)^-1
    block_multiply(x, &x, p, solution, s);                 // X += P alpha C
    block_multiply(q, &q, z, minus_alpha, s);              // Q -= Z alpha
    block_gram(q, q, sums, s);
    runtime::submit_scalar<Orthonormalise>(state, &sums, entries);  // Q' S = Q,  C = S C
    block_multiply(q, nullptr, q, orthonormal, s);                  // Q' = Q T
    block_multiply(p, &q, p, direction, s);                         // P = Q' + P S^+
  });
}

}  // namespace quarkstar
