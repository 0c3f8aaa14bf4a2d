// BiCGStab (van der Vorst 1992), fused so that an iteration is two applications of A and three passes over vectors.
#include "codelets/blas/blas.hpp"
#include "solvers/krylov.hpp"

namespace quarkstar {
namespace {

using runtime::ComplexScalar;

struct State : KrylovState {
  ComplexScalar rho, alpha, omega, beta;
};

struct Begin {  // rho = <r0, r> = |r|^2
  static constexpr const char* name = "bicgstab.begin";
  static constexpr bool ends_iteration = false;
  static void run(State& s, const double* sums) {
    s.rho = {sums[0], 0};
    s.check_start(sums[0]);
  }
};

struct Alpha {  // alpha = rho / <r0, v>
  static constexpr const char* name = "bicgstab.alpha";
  static constexpr bool ends_iteration = false;
  static void run(State& s, const double* sums) { s.alpha = divide(s, s.rho, {sums[0], sums[1]}); }
};

struct Omega {  // omega = <t, s> / |t|^2, from |t|^2 and <s, t>
  static constexpr const char* name = "bicgstab.omega";
  static constexpr bool ends_iteration = false;
  static void run(State& s, const double* sums) {
    // t = A s = 0 means s = 0: alpha alone was the solution, and Rho will see that the residual is zero.
    s.omega = sums[0] == 0 ? ComplexScalar{} : divide(s, {sums[1], -sums[2]}, {sums[0], 0});
  }
};

struct Rho {  // beta = (rho' / rho) (alpha / omega), from |r|^2 and rho' = <r0, r>
  static constexpr const char* name = "bicgstab.rho";
  static constexpr bool ends_iteration = true;
  static double record(const State& s) { return s.norm2; }
  static void run(State& s, const double* sums) {
    if (const StopReason reason = s.verdict(sums[0]); reason != StopReason::running) return s.stop(reason);
    const ComplexScalar rho{sums[1], sums[2]};
    s.beta = times(divide(s, rho, s.rho), divide(s, s.alpha, s.omega));
    s.rho = rho;
  }
};

}  // namespace

KrylovResult bicgstab(LinearOperator& a, const SpinorField& x, const SpinorField& r, const KrylovLimits& limits,
                      const KrylovProgress& progress) {
  const SpinorField r0(a.lattice(), a.parity()), p(a.lattice(), a.parity()), v(a.lattice(), a.parity()), t(a.lattice(), a.parity());
  runtime::GraphState<State> state(initial_state<State>(limits), limits.most_iterations);
  runtime::PartialSums sums(a.lattice()->block_count());
  const runtime::Handle* s = &state.handle();
  const auto alpha = state.coefficient(&State::alpha), omega = state.coefficient(&State::omega), beta = state.coefficient(&State::beta);

  blas::submit<blas::Fill>({&x}, {{{0, 0}}});
  blas::submit<blas::Scale>({&r0, &r}, {{{1, 0}}});
  blas::submit<blas::Scale>({&p, &r}, {{{1, 0}}});
  blas::submit<blas::Norm>({&r}, {}, nullptr, &sums);
  runtime::submit_scalar<Begin>(state, &sums, 1);

  return run_iterations(state, limits, progress, [&] {
    a.apply(v, p, {.y = &r0}, false, s);                                   // v = A p,  <r0, v>
    runtime::submit_scalar<Alpha>(state, &a.sums(), 2);                    // alpha = rho / <r0, v>
    blas::submit<blas::AddScaled>({&r, &v}, {-alpha}, s);                  // r -= alpha v
    a.apply(t, r, {.norm = true, .y = &r}, false, s);                      // t = A r,  |t|^2, <r, t>
    runtime::submit_scalar<Omega>(state, &a.sums(), 3);                    // omega = <t, r> / |t|^2
    blas::submit<blas::BicgstabSolutionResidual>({&x, &r, &p, &t, &r0}, {alpha, omega, -omega}, s, &sums);  // x, r, |r|^2, <r0, r>
    runtime::submit_scalar<Rho>(state, &sums, 3);                          // beta = (rho' / rho) (alpha / omega)
    blas::submit<blas::BicgstabDirection>({&p, &r, &v}, {beta, -omega}, s);  // p = r + beta (p - omega v)
  });
}

}  // namespace quarkstar
