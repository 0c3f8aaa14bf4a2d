// Multi-shift conjugate gradient (Jegerlehner, hep-lat/9612014): the Krylov space of A serves A + shift for every
// shift. |r_s| of the shifted systems is recursive; refine where it must be true. An iteration: one application to one vector
// and 5 passes over x.
#include "runtime/system/error.hpp"
#include "solvers/krylov/multishift_cg_steps.hpp"
#include "solvers/krylov/recurrence.hpp"

namespace quarkstar {
namespace multishift_cg_steps {
namespace {

State start_of(const KrylovLimits& limits, int shifts) {
  State start = initial_state<State>(limits, shifts);
  std::copy_n(limits.shifts.begin(), shifts, start.shift);
  return start;
}

class MultishiftConjugateGradient : public RecurrenceOn<State, 1, 1> {
 public:
  MultishiftConjugateGradient(LinearOperator& a, const KrylovLimits& limits, int shifts)
      : RecurrenceOn(a, limits, start_of(limits, shifts), 1) {
    if (a.vectors() != 1) throw ShapeError("multishift_conjugate_gradient", "the base system has one vector");
  }

  void begin(const Field&, const Field& r) override {
    blas::submit<blas::Scale>({&p_, &r}, {1.0}, base_);
    blas::submit<blas::Scale>({&shifted_p_, &r}, {1.0}, s_);
    blas::submit<blas::Norm>({&r}, {}, base_, &sums_);
    runtime::submit_scalar<Begin>(state_, &sums_, 1);
  }

  void step(const Field& x, const Field& r, bool) override {
    a_.apply(q_, p_, {.y = &p_, .imaginary = false}, false, base_);                                         // q = A p,  <p, q>
    runtime::submit_scalar<Alpha>(state_, &a_.sums(), 1);                                                   // alpha, zeta_s, alpha_s
    blas::submit<blas::AddScaledNorm>({&r, &q_}, {-alpha_}, base_, &sums_);                                 // r -= alpha q,  |r|^2
    runtime::submit_scalar<Beta>(state_, &sums_, 1);                                                        // beta, beta_s
    blas::submit<blas::ShiftedSolutionDirection>({&x, &shifted_p_, &r}, {alpha_s_, zeta_s_, beta_s_}, s_);  // x_s, p_s
    blas::submit<blas::Direction>({&p_, &r}, {beta_}, base_);                                               // p = r + beta p
  }

 private:
  const runtime::Guard base_ = s_.of_all_vectors();
  const Field &p_ = work_[0], &q_ = work_[1];
  const Field shifted_p_ = a_.field(n_);
  const blas::Coefficient alpha_ = blas::Coefficient::of(&State::base_alpha), beta_ = blas::Coefficient::of(&State::base_beta);
  const blas::Coefficient alpha_s_ = blas::Coefficient::of(&State::alpha), beta_s_ = blas::Coefficient::of(&State::beta),
                          zeta_s_ = blas::Coefficient::of(&State::zeta);
};

}  // namespace
}  // namespace multishift_cg_steps

NamedKrylovSolver multishift_solver() {
  return solver_by<multishift_cg_steps::MultishiftConjugateGradient>({.name = "multishift", .reliable_updates = false, .shifted = true});
}

}  // namespace quarkstar
