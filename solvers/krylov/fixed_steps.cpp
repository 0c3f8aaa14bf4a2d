#include "solvers/krylov/fixed_steps.hpp"

#include "runtime/system/error.hpp"
#include "solvers/krylov/state_task.hpp"

#include <algorithm>

namespace quarkstar {
namespace {

KrylovLimits limits_for(int steps, int restart) {
  KrylovLimits limits;
  limits.most_iterations = limits.patience = iterations_for_all(steps);
  limits.restart = std::min(restart, steps);
  limits.nested = true;
  return limits;
}

}  // namespace

FixedSteps::FixedSteps(LinearOperator& a, const NamedKrylovSolver& solver, int steps, int restart, const Preconditioner& precondition)
    : steps_(steps), limits_(limits_for(steps, restart)), r_(a.field()) {
  if (!solver.can_be_inner()) throw ShapeError("FixedSteps", "a solver whose vectors depend on each other");
  limits_.precondition = precondition;
  recurrence_ = solver.make(a, limits_, a.vectors());
}

RecurrenceMemory FixedSteps::memory(const NamedKrylovSolver& solver, int steps, int restart, int n) {
  const KrylovLimits limits = limits_for(steps, restart);
  const RecurrenceMemory of_recurrence = solver.memory(limits.restart, n);
  return {1 + of_recurrence.fields, of_recurrence.state_bytes + sizeof(double) * static_cast<std::size_t>(recorded_numbers(limits, n))};
}

void FixedSteps::apply(const Field& out, const Field& in, const runtime::Guard& guard) const {
  const runtime::Guard s(&recurrence_->state());
  const int owner = recurrence_->owner();
  submit_on_state<BeginAnew, KrylovState>(recurrence_->state(), owner, guard);
  blas::submit<blas::Fill>({&out}, {0.0}, guard.keeps ? s.keeping() : s);
  blas::submit<blas::Scale>({&r_, &in}, {1.0}, s);
  recurrence_->begin(out, r_);
  for (int i = 1; i <= steps_; ++i) recurrence_->step(out, r_, recurrence_->cycle() > 0 && i % recurrence_->cycle() == 0);
  recurrence_->end(out);
  if (guard.state != nullptr) submit_on_state<TakeTrail, KrylovState>(*guard.state, owner, s);
  submit_on_state<RunBroken, KrylovState>(recurrence_->state(), owner);
  blas::submit<blas::Scale>({&out, &in}, {1.0}, s.keeping());
}

}  // namespace quarkstar
