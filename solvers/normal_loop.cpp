#include "solvers/normal_loop.hpp"

#include "codelets/actions/submit_together.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/field/norms.hpp"
#include "solvers/solver_choice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace quarkstar {
namespace {
constexpr int solved_parity = 1;  // of all these systems
}

NormalLoop::NormalLoop(Corrector& corrector, double mass, std::span<const double> shifts, std::span<const double> tolerances)
    : corrector_(corrector),
      tolerances_(tolerances),
      shifts_(for_each_vector(shifts.size(), [&](std::size_t v) { return shifts[v]; })),
      system_(corrector.action().system(static_cast<int>(shifts.size()), same_for_all(mass), solved_parity)),
      a_(std::make_unique<ShiftedSystem>(*system_, shifts_)),
      goal_{.n = shifts.size(), .mass = same_for_all(mass), .solver = &shifted_solver()},
      results_(shifts.size()) {}

std::vector<SolveResult> NormalLoop::run(const Field& source, const Field& b, const Field& x) {
  const Field r = field(), e = field();
  blas::submit<blas::Fill>({&x}, {0.0});
  b_norm2_ = norms2(b);
  for (bool working = judge(b_norm2_); working;) {
    VectorStatus done{};
    for (std::size_t v = 0; v < goal_.n; ++v) done.stopped[v] = goal_.runs(v) ? 0 : 1;
    const runtime::GraphState<VectorStatus> mask(done, 1, x.lattice()->decomposition().first_owner());
    add(corrector_.solve_normal(e, cycle_ == 0 ? source : r, goal_, shifts_));
    blas::submit<blas::AddScaled>({&x, &e}, {1.0}, runtime::Guard(&mask.handle()));
    submit_residual(r, b, x, e);
    ++cycle_;
    working = judge(norms2(r));
  }
  return std::move(results_);
}

/// r = b - A x.
void NormalLoop::submit_residual(const Field& r, const Field& b, const Field& x, const Field& temporary) {
  submit_together([&] {
    a_->apply(temporary, x, {}, false, {});
    blas::submit<blas::Scale>({&r, &b}, {1.0});
    blas::submit<blas::AddScaled>({&r, &temporary}, {-1.0});
  });
}

/// By |b - A x|^2: which shifts are done, and what is asked for the others. Whether there are any.
bool NormalLoop::judge(const std::vector<double>& r_norm2) {
  bool working = false;
  for (std::size_t v = 0; v < goal_.n; ++v) {
    if (cycle_ > 0 && !goal_.runs(v)) continue;
    SolveResult& result = results_[v];
    const double target2 = tolerances_[v] * tolerances_[v] * b_norm2_[v];
    result.true_residual = b_norm2_[v] > 0 ? std::sqrt(r_norm2[v] / b_norm2_[v]) : std::sqrt(r_norm2[v]);
    if (!std::isfinite(r_norm2[v])) result.reason = StopReason::not_finite;
    else if (r_norm2[v] <= target2) result.reason = StopReason::converged;
    else if (result.iterations >= corrector_.settings().max_iterations) result.reason = StopReason::iteration_limit;
    else if (cycle_ > 1 && r_norm2[v] > 0.25 * goal_.r_norm2[v]) result.reason = StopReason::stagnation;
    const bool runs = result.reason == StopReason::running;
    if (runs) result.restarts = cycle_;
    goal_.target2[v] = runs ? target2 : CorrectionGoal::done;
    goal_.r_norm2[v] = goal_.least2[v] = r_norm2[v];
    goal_.budget[v] = std::max(1, corrector_.settings().max_iterations - result.iterations);
    working = working || runs;
  }
  return working;
}

/// What a correction took.
void NormalLoop::add(const KrylovResults& corrected) {
  idle_ += corrected.idle;
  for (std::size_t v = 0; v < goal_.n; ++v) {
    if (!goal_.runs(v)) continue;
    const KrylovResult& of_vector = corrected.of_vectors[v];
    results_[v].iterations += of_vector.iterations;
    if (corrector_.settings().keep_history)
      for (const double norm2 : of_vector.norm2) results_[v].residual_history.push_back(std::sqrt(norm2 / b_norm2_[v]));
  }
}

}  // namespace quarkstar
