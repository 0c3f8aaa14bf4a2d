// Conjugate gradient (Hestenes and Stiefel 1952) for hermitian positive operators; each vector has its own alpha, beta and end. An
// iteration: one application, three passes over vectors.
#include "solvers/krylov/cg_steps.hpp"
#include "solvers/krylov/recurrence.hpp"

namespace quarkstar {
namespace cg_steps {
namespace {

class ConjugateGradient : public RecurrenceOn<State, 1, 1> {
 public:
  ConjugateGradient(LinearOperator& a, const KrylovLimits& limits, int vectors) : RecurrenceOn(a, limits, vectors, 1) {}

  void begin(const Field&, const Field& r) override {
    blas::submit<blas::Scale>({&p_, &r}, {1.0}, s_);
    blas::submit<blas::Norm>({&r}, {}, s_, &sums_);
    runtime::submit_scalar<Begin>(state_, &sums_, n_);
  }

  void step(const Field& x, const Field& r, bool refresh) override {
    a_.apply(q_, p_, {.y = &p_, .imaginary = false}, false, s_);          // q = A p,  <p, q>
    runtime::submit_scalar<Alpha>(state_, &a_.sums(), n_);                // alpha = |r|^2 / <p, q>
    blas::submit<blas::AddScaledNorm>({&r, &q_}, {-alpha_}, s_, &sums_);  // r -= alpha q,  |r|^2
    runtime::submit_scalar<Beta>(state_, &sums_, n_);                     // beta = |r'|^2 / |r|^2
    if (refresh) {
      const runtime::Guard due = s_.refreshing();
      blas::submit<blas::AddScaled>({&x, &p_}, {alpha_}, due);
      limits_.refresh.submit(x, r, due);  // y += x,  x = 0,  r = b - A y
      blas::submit<blas::Norm>({&r}, {}, due, &sums_);
      runtime::submit_scalar<Refreshed>(state_, &sums_, n_);  // beta anew, alpha = 0
    }
    blas::submit<blas::CgSolutionDirection>({&x, &p_, &r}, {alpha_, beta_}, s_);  // x += alpha p,  p = r + beta p
  }

 private:
  const Field &p_ = work_[0], &q_ = work_[1];
  const blas::Coefficient alpha_ = blas::Coefficient::of(&State::alpha), beta_ = blas::Coefficient::of(&State::beta);
};

}  // namespace
}  // namespace cg_steps

NamedKrylovSolver cg_solver() {
  // A place for a refresh that is not due still costs the launches of 12 kernels or more; one that waits for its place costs iterations: 8
  // take up to 4 % more of them than 4 in half precision, 16 up to 20 %.
  return solver_by<cg_steps::ConjugateGradient>({.name = "cg", .refresh_every = 8, .vectors_in_lanes = true, .pauses = true});
}

}  // namespace quarkstar
