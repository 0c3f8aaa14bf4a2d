// Pipelined conjugate gradient (P. Ghysels and W. Vanroose, Parallel Computing 40 (2014) 224) for hermitian positive operators: the two
// sums of an iteration are made in one pass and are on their way while the operator is applied. An iteration: one application, one pass.
//
//   w = A r,  s = A p,  z = A s,  q = A w;  the sums of |r|^2 and <r, w> go with q's hops
//
// Each of w, s and z comes from a recurrence, so their errors grow where those of conjugate gradient do not, and r parts from b - A x
// sooner. Below double precision they do so before |r| has fallen, so a refresh is always due at its place, and computes all images anew;
// in double precision the outer correction decides by the true residual.
#include "solvers/krylov/pipelined_cg_steps.hpp"
#include "solvers/krylov/recurrence.hpp"

namespace quarkstar {
namespace pipelined_cg_steps {
namespace {

class PipelinedConjugateGradient : public RecurrenceOn<State, 5, 0> {
 public:
  PipelinedConjugateGradient(LinearOperator& a, const KrylovLimits& limits, int vectors) : RecurrenceOn(a, limits, vectors, State::sums) {}

  void begin(const Field&, const Field& r) override {
    for (const Field* field : {&p_, &s_p_, &z_}) blas::submit<blas::Fill>({field}, {0.0}, s_);
    find_images(r, s_);
    runtime::submit_scalar<Begin>(state_, &sums_, State::sums * n_);
  }

  void step(const Field& x, const Field& r, bool refresh) override {
    blas::submit<blas::PipelinedCgUpdate>({&z_, &s_p_, &p_, &x, &r, &w_, &q_}, {beta_, alpha_, -alpha_}, s_, &sums_);
    sum_images(r, s_);
    runtime::begin_sum<Next>(state_, sums_, State::sums * n_);
    a_.apply(q_, w_, {}, false, s_);
    runtime::submit_scalar<Next>(state_, &sums_, State::sums * n_, true);
    if (refresh) {
      const runtime::Guard due = s_.refreshing();
      limits_.refresh.submit(x, r, due);  // y += x,  x = 0,  r = b - A y
      a_.apply(s_p_, p_, {}, false, due);
      a_.apply(z_, s_p_, {}, false, due);
      find_images(r, due);
      runtime::submit_scalar<Refreshed>(state_, &sums_, State::sums * n_);
    }
  }

 private:
  /// w = A r,  q = A w;  all sums.
  void find_images(const Field& r, const runtime::Guard& guard) {
    a_.apply(w_, r, {}, false, guard);
    a_.apply(q_, w_, {}, false, guard);
    blas::submit<blas::NormDot>({&r, &w_}, {}, guard, &sums_);
    sum_images(r, guard);
  }
  /// <r, s>, <p, s>, behind |r|^2 and Re <r, w>.
  void sum_images(const Field& r, const runtime::Guard& guard) {
    blas::submit<blas::DotPair>({&s_p_, &r, &p_}, {}, guard, &sums_, blas::PipelinedCgUpdate::sums * n_);
  }

  const Field &p_ = work_[0], &s_p_ = work_[1], &z_ = work_[2], &w_ = work_[3], &q_ = work_[4];
  const blas::Coefficient alpha_ = blas::Coefficient::of(&State::alpha), beta_ = blas::Coefficient::of(&State::beta);
};

}  // namespace
}  // namespace pipelined_cg_steps

NamedKrylovSolver pipelined_cg_solver() {
  return solver_by<pipelined_cg_steps::PipelinedConjugateGradient>(
      {.name = "cg-pipelined",
       .refresh_every = 16,
       .vectors_in_lanes = true,
       .pauses = true,
       .pipelined_of = "cg",
       .most_vectors = runtime::detail::most_sums_on_cuda / pipelined_cg_steps::State::sums});
}

}  // namespace quarkstar
