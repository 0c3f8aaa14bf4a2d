// Restarted generalised conjugate residuals, GCR(k) (Eisenstat, Elman and Schultz 1983), flexible: every direction may
// come from another preconditioner. The directions themselves are kept, not combined, and the solution is put together
// when they are given up (M. Luescher, hep-lat/0310048), so that an iteration reads each kept vector twice.
#include "solvers/krylov/gcr_steps.hpp"
#include "solvers/krylov/recurrence.hpp"
#include "solvers/krylov/state_task.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace quarkstar {
namespace gcr_steps {
namespace {

/// to += sum c_i vectors_i, over as many as there are coefficients.
void add_all(const Field& to, std::span<const Field> vectors, std::span<const blas::Coefficient> c, const runtime::Guard& guard) {
  std::size_t i = 0;
  for (; i + 2 <= c.size(); i += 2) blas::submit<blas::AddScaledPair>({&to, &vectors[i], &vectors[i + 1]}, {c[i], c[i + 1]}, guard);
  if (i < c.size()) blas::submit<blas::AddScaled>({&to, &vectors[i]}, {c[i]}, guard);
}

/// <vectors_i, x> for i in [begin, end).
void dot_all(const Field& x, std::span<const Field> vectors, std::size_t begin, std::size_t end, const runtime::Guard& guard,
             const runtime::PartialSums& sums) {
  const auto place = [&](std::size_t i) { return static_cast<int>(2 * (i - begin)) * x.vectors(); };
  std::size_t i = begin;
  for (; i + 2 <= end; i += 2) blas::submit<blas::DotPair>({&x, &vectors[i], &vectors[i + 1]}, {}, guard, &sums, place(i));
  if (i < end) blas::submit<blas::Dot>({&x, &vectors[i]}, {}, guard, &sums, place(i));
}

State start_of(const KrylovLimits& limits, int vectors) {
  State start = initial_state<State>(limits, vectors);
  start.restart = limits.restart;
  start.products_a_step = std::max(2, runtime::detail::most_sums_on_cuda / (2 * vectors) / 2 * 2);
  return start;
}

class GeneralisedConjugateResidual : public RecurrenceOn<State, 0, 0, true> {
 public:
  GeneralisedConjugateResidual(LinearOperator& a, const KrylovLimits& limits, int vectors)
      : GeneralisedConjugateResidual(a, limits, start_of(limits, vectors)) {}

  int cycle() const override { return limits_.restart; }

  void begin(const Field&, const Field& r) override {
    j_ = 0;
    blas::submit<blas::Norm>({&r}, {}, s_, &sums_);
    runtime::submit_scalar<Begin>(state_, &sums_, n_);
  }

  void step(const Field& x, const Field& r, bool last) override {
    const Field &p = p_[j_], &q = q_[j_];
    if (limits_.precondition) limits_.precondition(p, r, keeping_);  // p = K r
    else blas::submit<blas::Scale>({&p, &r}, {1.0}, keeping_);
    if (j_ == 0) {
      a_.apply(q, p, {.norm = true, .y = &r}, false, s_);  // q = A p,  |q|^2, <r, q>
    } else {
      a_.apply(q, p, {}, false, s_);
      for (std::size_t first = 0; first < j_; first += products_a_step_) {
        const std::size_t end = std::min(first + products_a_step_, j_);
        dot_all(q, q_, first, end, s_, products_);  // <q_i, q>
        runtime::submit_scalar<Project>(state_, &products_, static_cast<int>(2 * (end - first)) * n_);
      }
      add_all(q, q_, std::span(minus_along_).first(j_), s_);
      blas::submit<blas::NormDot>({&q, &r}, {}, s_, &sums_);  // |q|^2, <r, q>
    }
    runtime::submit_scalar<Alpha>(state_, j_ == 0 ? &a_.sums() : &sums_, 3 * n_);  // alpha = <q, r> / |q|^2
    if (!last) {
      blas::submit<blas::AddScaled>({&r, &q}, {-alpha_}, s_);  // r -= alpha q
      runtime::submit_scalar<Keep>(state_);
      ++j_;
      return;
    }
    blas::submit<blas::AddScaledNorm>({&r, &q}, {-alpha_}, s_, &sums_);
    runtime::submit_scalar<Close>(state_, &sums_, n_);
    add_all(x, p_, y_, s_);
    if (limits_.refresh.submit) {
      const runtime::Guard due = s_.refreshing();
      limits_.refresh.submit(x, r, due);  // y += x,  x = 0,  r = b - A y
      blas::submit<blas::Norm>({&r}, {}, due, &sums_);
      runtime::submit_scalar<Refreshed>(state_, &sums_, n_);
    }
    j_ = 0;
  }

  /// x += the directions that each vector had kept when it stopped.
  void end(const Field& x) override {
    int most = limits_.restart;
    if (!limits_.nested) {  // here the main thread may wait, and submits no task that finds nothing to do
      const runtime::HostView<State> seen(state_.handle());
      most = *std::max_element(seen->kept, seen->kept + n_);
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(most); i += 2) {
      submit_on_state<Rest, State>(state(), owner());
      if (i + 1 < p_.size()) blas::submit<blas::AddScaledPair>({&x, &p_[i], &p_[i + 1]}, {y_[i], y_[i + 1]}, s_);
      else blas::submit<blas::AddScaled>({&x, &p_[i]}, {y_[i]}, s_);
    }
    submit_on_state<Rest, State>(state(), owner());
  }

 private:
  GeneralisedConjugateResidual(LinearOperator& a, const KrylovLimits& limits, const State& start)
      : RecurrenceOn(a, limits, start, 3),
        products_a_step_(static_cast<std::size_t>(start.products_a_step)),
        products_(partial_sums_of(a, 2 * std::min(start.products_a_step, limits.restart))) {
    for (int i = 0; i < limits.restart; ++i) {
      minus_along_.push_back(-blas::Coefficient::at(start.offset_of_row(State::along, i), false));
      y_.push_back(blas::Coefficient::at(start.offset_of_row(State::solution, i), false));
    }
    for (const Field& p : p_) blas::submit<blas::Fill>({&p}, {0.0});  // what a task may keep must be there
  }

  const std::span<const Field> p_ = std::span(work_).first(work_.size() / 2), q_ = std::span(work_).last(work_.size() / 2);
  const std::size_t products_a_step_;  ///< directions whose products one Project step takes
  const runtime::PartialSums products_;
  const runtime::Guard keeping_ = s_.keeping();  ///< directions of the last cycle outlive the tasks that a stop leaves undone
  const blas::Coefficient alpha_ = blas::Coefficient::of(&State::alpha);
  std::vector<blas::Coefficient> minus_along_, y_;
  std::size_t j_ = 0;  ///< the direction that the next step makes
};

}  // namespace
}  // namespace gcr_steps

NamedKrylovSolver gcr_solver() {
  return solver_by<gcr_steps::GeneralisedConjugateResidual>(
      {.name = "gcr", .any_operator = true, .flexible = true, .pauses = true, .known_gain2 = gain2_of_m});
}
NamedKrylovSolver multigrid_solver() {
  return solver_by<gcr_steps::GeneralisedConjugateResidual>(
      {.name = "multigrid", .any_operator = true, .flexible = true, .multigrid = true});
}

}  // namespace quarkstar
