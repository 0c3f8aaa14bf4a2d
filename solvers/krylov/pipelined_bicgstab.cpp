// Pipelined BiCGStab (S. Cools and W. Vanroose, Parallel Computing 65 (2017) 1): the sums of an iteration are made in two passes, and each
// is on its way while the operator is applied. An iteration: two applications, two passes.
//
//   w = A r,  s = A p,  z = A s,  t = A w,  v = A z;  q and y = A q are r and w in the middle of an iteration
//
// Each of w, s and z comes from a recurrence, so their errors grow where those of BiCGStab do not, and r parts from b - A x sooner: a
// refresh computes all images anew, and the outer correction decides by the true residual.
#include "solvers/krylov/pipelined_bicgstab_steps.hpp"
#include "solvers/krylov/recurrence.hpp"

namespace quarkstar {
namespace pipelined_bicgstab_steps {
namespace {

class PipelinedBicgstab : public RecurrenceOn<State, 7, 0> {
 public:
  PipelinedBicgstab(LinearOperator& a, const KrylovLimits& limits, int vectors) : RecurrenceOn(a, limits, vectors, sums_of_middle) {}

  void begin(const Field&, const Field& r) override {
    blas::submit<blas::Scale>({&r0_, &r}, {1.0}, s_);
    for (const Field* field : {&p_, &s_p_, &z_, &v_}) blas::submit<blas::Fill>({field}, {0.0}, s_);
    find_images(r, s_);
    blas::submit<blas::NormDot>({&r, &w_}, {}, s_, &sums_);
    runtime::submit_scalar<Begin>(state_, &sums_, 3 * n_);
  }

  void step(const Field& x, const Field& r, bool refresh) override {
    blas::submit<blas::PipelinedBicgstabMiddle>({&p_, &s_p_, &z_, &r, &w_, &t_, &v_, &r0_}, {beta_, -omega_, -alpha_}, s_, &sums_);
    runtime::begin_sum<Omega>(state_, sums_, sums_of_middle * n_);  // |y|^2, <q, y>, <r0, s>, <r0, z>
    a_.apply(v_, z_, {}, false, s_);
    runtime::submit_scalar<Omega>(state_, &sums_, sums_of_middle * n_, true);
    blas::submit<blas::PipelinedBicgstabEnd>({&x, &r, &w_, &p_, &t_, &v_, &r0_}, {alpha_, omega_}, s_, &sums_);
    runtime::begin_sum<Next>(state_, sums_, sums_of_end * n_);  // |r|^2, <r0, r>, <r0, w>
    a_.apply(t_, w_, {}, false, s_);
    runtime::submit_scalar<Next>(state_, &sums_, sums_of_end * n_, true);
    if (refresh) {
      const runtime::Guard due = s_.refreshing();
      limits_.refresh.submit(x, r, due);  // y += x,  x = 0,  r = b - A y
      find_images(r, due);
      a_.apply(s_p_, p_, {}, false, due);
      a_.apply(z_, s_p_, {}, false, due);
      a_.apply(v_, z_, {}, false, due);
      blas::submit<blas::NormDot>({&r, &r0_}, {}, due, &sums_);
      blas::submit<blas::Dot>({&w_, &r0_}, {}, due, &sums_, 3 * n_);
      runtime::submit_scalar<Refreshed>(state_, &sums_, sums_of_end * n_);
    }
  }

 private:
  static constexpr int sums_of_middle = blas::PipelinedBicgstabMiddle::sums, sums_of_end = blas::PipelinedBicgstabEnd::sums;

  /// w = A r,  t = A w.
  void find_images(const Field& r, const runtime::Guard& guard) {
    a_.apply(w_, r, {}, false, guard);
    a_.apply(t_, w_, {}, false, guard);
  }

  const Field &r0_ = work_[0], &p_ = work_[1], &s_p_ = work_[2], &z_ = work_[3], &w_ = work_[4], &t_ = work_[5], &v_ = work_[6];
  const blas::Coefficient alpha_ = blas::Coefficient::of(&State::alpha), omega_ = blas::Coefficient::of(&State::omega),
                          beta_ = blas::Coefficient::of(&State::beta);
};

}  // namespace
}  // namespace pipelined_bicgstab_steps

NamedKrylovSolver pipelined_bicgstab_solver() {
  return solver_by<pipelined_bicgstab_steps::PipelinedBicgstab>(
      {.name = "bicgstab-pipelined",
       .any_operator = true,
       .pauses = true,
       .known_gain2 = gain2_of_m,
       .pipelined_of = "bicgstab",
       .most_vectors = runtime::detail::most_sums_on_cuda / blas::PipelinedBicgstabMiddle::sums});
}

}  // namespace quarkstar
