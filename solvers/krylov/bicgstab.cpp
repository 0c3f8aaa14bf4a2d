// BiCGStab (van der Vorst 1992), fused so that an iteration is two applications of A and three passes over vectors.
#include "solvers/krylov/bicgstab_steps.hpp"
#include "solvers/krylov/recurrence.hpp"

namespace quarkstar {
namespace bicgstab_steps {
namespace {

class Bicgstab : public RecurrenceOn<State, 2, 2> {
 public:
  Bicgstab(LinearOperator& a, const KrylovLimits& limits, int vectors) : RecurrenceOn(a, limits, vectors, 3) {}

  void begin(const Field&, const Field& r) override {
    blas::submit<blas::Scale>({&r0_, &r}, {1.0}, s_);
    blas::submit<blas::Scale>({&p_, &r}, {1.0}, s_);
    blas::submit<blas::Norm>({&r}, {}, s_, &sums_);
    runtime::submit_scalar<Begin>(state_, &sums_, n_);
  }

  void step(const Field& x, const Field& r, bool refresh) override {
    a_.apply(v_, p_, {.y = &r0_}, false, s_);                   // v = A p,  <r0, v>
    runtime::submit_scalar<Alpha>(state_, &a_.sums(), 2 * n_);  // alpha = rho / <r0, v>
    blas::submit<blas::AddScaled>({&r, &v_}, {-alpha_}, s_);    // r -= alpha v
    a_.apply(t_, r, {.norm = true, .y = &r}, false, s_);        // t = A r,  |t|^2, <r, t>
    runtime::submit_scalar<Omega>(state_, &a_.sums(), 3 * n_);  // omega = <t, r> / |t|^2
    blas::submit<blas::BicgstabSolutionResidual>({&x, &r, &p_, &t_, &r0_}, {alpha_, omega_, -omega_}, s_,
                                                 &sums_);  // x, r, |r|^2, <r0, r>
    runtime::submit_scalar<Rho>(state_, &sums_, 3 * n_);   // beta = (rho' / rho) (alpha / omega)
    if (refresh) {
      const runtime::Guard due = s_.refreshing();
      limits_.refresh.submit(x, r, due);  // y += x,  x = 0,  r = b - A y
      blas::submit<blas::NormDot>({&r, &r0_}, {}, due, &sums_);
      runtime::submit_scalar<Refreshed>(state_, &sums_, 3 * n_);  // beta anew
    }
    blas::submit<blas::BicgstabDirection>({&p_, &r, &v_}, {beta_, -omega_}, s_);  // p = r + beta (p - omega v)
  }

 private:
  const Field &r0_ = work_[0], &p_ = work_[1], &v_ = work_[2], &t_ = work_[3];
  const blas::Coefficient alpha_ = blas::Coefficient::of(&State::alpha), omega_ = blas::Coefficient::of(&State::omega),
                          beta_ = blas::Coefficient::of(&State::beta);
};

}  // namespace
}  // namespace bicgstab_steps

NamedKrylovSolver bicgstab_solver() {
  return solver_by<bicgstab_steps::Bicgstab>({.name = "bicgstab", .any_operator = true, .pauses = true, .known_gain2 = gain2_of_m});
}

}  // namespace quarkstar
