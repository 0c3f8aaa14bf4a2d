// Conjugate gradient on the normal equations in the CGLS form (Hestenes and Stiefel 1952; Bjorck 1996, section 7.4):
// the residual of A x = b itself is carried along, so the solve stops on what the user asked for and squares no small
// number.
#include "solvers/krylov/cgnr_steps.hpp"
#include "solvers/krylov/recurrence.hpp"

namespace quarkstar {
namespace cgnr_steps {
namespace {

class CgNormalEquations : public RecurrenceOn<State, 1, 2> {
 public:
  CgNormalEquations(LinearOperator& a, const KrylovLimits& limits, int vectors) : RecurrenceOn(a, limits, vectors, 1) {}

  void begin(const Field&, const Field& r) override {
    blas::submit<blas::Norm>({&r}, {}, s_, &sums_);
    a_.apply(p_, r, {.norm = true}, true, s_);  // before the step that may find nothing to do: what is skipped here nobody counts
    runtime::submit_scalar<Begin>(state_, &sums_, n_);
    runtime::submit_scalar<Gamma>(state_, &a_.sums(), n_);
  }

  void step(const Field& x, const Field& r, bool refresh) override {
    a_.apply(q_, p_, {.norm = true}, false, s_);                          // q = A p,  |q|^2
    runtime::submit_scalar<Alpha>(state_, &a_.sums(), n_);                // alpha = |s|^2 / |q|^2
    blas::submit<blas::AddScaledNorm>({&r, &q_}, {-alpha_}, s_, &sums_);  // r -= alpha q,  |r|^2
    runtime::submit_scalar<Residual>(state_, &sums_, n_);
    if (refresh) {
      const runtime::Guard due = s_.refreshing();
      blas::submit<blas::AddScaled>({&x, &p_}, {alpha_}, due);
      limits_.refresh.submit(x, r, due);  // y += x,  x = 0,  r = b - A y
      blas::submit<blas::Norm>({&r}, {}, due, &sums_);
      runtime::submit_scalar<Refreshed>(state_, &sums_, n_);  // alpha = 0
    }
    a_.apply(z_, r, {.norm = true}, true, s_);                                     // z = A^+ r,  |z|^2
    runtime::submit_scalar<Beta>(state_, &a_.sums(), n_);                          // beta = |z'|^2 / |z|^2
    blas::submit<blas::CgSolutionDirection>({&x, &p_, &z_}, {alpha_, beta_}, s_);  // x += alpha p,  p = z + beta p
  }

 private:
  const Field &p_ = work_[0], &q_ = work_[1], &z_ = work_[2];
  const blas::Coefficient alpha_ = blas::Coefficient::of(&State::alpha), beta_ = blas::Coefficient::of(&State::beta);
};

}  // namespace
}  // namespace cgnr_steps

NamedKrylovSolver cgnr_solver() { return solver_by<cgnr_steps::CgNormalEquations>({.name = "cgnr", .any_operator = true, .pauses = true}); }

}  // namespace quarkstar
