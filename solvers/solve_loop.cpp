#include "solvers/solve_loop.hpp"

#include "codelets/field/norms.hpp"
#include "runtime/backend.hpp"
#include "solvers/multigrid/set_up.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace quarkstar {
namespace {

bool is_failure(StopReason reason) {
  return reason == StopReason::stagnation || reason == StopReason::zero_denominator || reason == StopReason::not_finite;
}

/// |f_v|^2 over both parities; waits for the tasks before it.
std::vector<double> norm2_of(const FullField& f) {
  std::vector<double> total = norms2(f);
  // Nothing was computed there, and a source of norm 0 would need no solve.
  if constexpr (!runtime::backend::computes) std::fill(total.begin(), total.end(), 1.0);
  return total;
}

bool is_zero(double norm2) { return norm2 == 0; }

}  // namespace

SolveLoop::SolveLoop(Corrector& corrector, const Problem& problem, const Progress& progress, const Snapshots& snapshots)
    : corrector_(corrector),
      problem_(problem),
      progress_(progress),
      snapshots_(snapshots),
      n_(problem.masses.size()),
      r_(corrector.lattice(), corrector.components(), static_cast<int>(n_)),
      e_(corrector.lattice(), corrector.components(), static_cast<int>(n_)),
      goal_{.n = n_, .mass = for_each_vector(n_, [&](std::size_t v) { return problem.masses[v]; })},
      b_norm2_(norm2_of(problem.b)),
      results_(n_) {
  const auto x_is_zero = [&] {
    const std::vector<double> norm2 = norm2_of(problem.x);
    return std::all_of(norm2.begin(), norm2.end(), is_zero);
  };
  shares_ = corrector.krylov().shifted && (!problem.guessed || x_is_zero());
  goal_.solver = &corrector.krylov();
  goal_.by_multigrid = corrector.multigrid() != nullptr;
}

std::vector<SolveResult> SolveLoop::run() {
  system_ = corrector_.action().system(static_cast<int>(n_), goal_.mass, problem_.request.parity);
  zero_solutions_of_zero_sources();
  corrector_.modes().begin(problem_.masses, system_->parity());
  if (problem_.request.resume != nullptr) go_on(*problem_.request.resume);
  for (;; ++cycle_, goal_.resume = nullptr) {
    submit_residual(*system_, r_, problem_.b, problem_.x);
    const std::vector<double> r_norm2 = norm2_of(r_);
    if (goal_.resume == nullptr && !judge(r_norm2) && !fall_back(r_norm2)) break;
    // A right-hand side that is done stays as it is, whatever happens to its correction meanwhile.
    VectorStatus done{};
    for (std::size_t v = 0; v < n_; ++v)
      if (!goal_.runs(v)) done.stopped[v] = 1;
    const runtime::GraphState<VectorStatus> mask(done, 1, problem_.x.even.lattice()->decomposition().first_owner());
    const runtime::Guard working(&mask.handle());
    shifted_ = shares_ && cycle_ == 0;
    begin_with_modes(working);
    watch(working);
    correct(working);
  }
  corrector_.modes().end(n_);
  return std::move(results_);
}

/// 0, with `multishift` from zero: as far as the Krylov space of the others brings it.
bool SolveLoop::has_tolerance(std::size_t v) const { return problem_.request.tolerances.empty() || problem_.request.tolerances[v] != 0; }

/// Of |b - M x|^2.
double SolveLoop::tolerance2(std::size_t v) const {
  const double tolerance = problem_.request.tolerances.empty() ? corrector_.settings().tolerance : problem_.request.tolerances[v];
  return tolerance * tolerance * b_norm2_[v];
}

/// |r| / |b| of the system that this cycle solves, where |r|^2 is norm2.
double SolveLoop::relative(std::size_t v, double norm2) const {
  return shifted_ ? std::sqrt(norm2 / b_norm2_[v]) : system_->relative_residual(v, norm2, b_norm2_[v]);
}

/// Whatever the guesses.
void SolveLoop::zero_solutions_of_zero_sources() {
  if (!problem_.guessed || std::none_of(b_norm2_.begin(), b_norm2_.end(), is_zero)) return;
  const PerVector keep = for_each_vector(n_, [&](std::size_t v) { return is_zero(b_norm2_[v]) ? 0.0 : 1.0; });
  for (const int parity : {0, 1}) {
    blas::submit<blas::Scale>({&e_.of(parity), &problem_.x.of(parity)}, {keep});
    blas::submit<blas::Scale>({&problem_.x.of(parity), &e_.of(parity)}, {1.0});
  }
}

/// From where a solve was; with numbers of a correction, in the midst of that.
void SolveLoop::go_on(const SolveState& state) {
  results_ = state.results;
  if (state.numbers.empty()) return;
  const CorrectionNumbers then = correction_numbers(state);
  cycle_ = then.cycle;
  spent_ = then.spent;
  if (goal_.by_multigrid && then.by_multigrid == 0) goal_.solver = find_krylov_solver(fallback_solver);
  goal_.by_multigrid = then.by_multigrid != 0;
  goal_.target2 = then.target2;
  goal_.r_norm2 = then.r_norm2;
  goal_.least2 = then.least2;
  goal_.budget = then.budget;
  goal_.patience = then.patience;
  previous2_ = then.previous2;
  goal_.resume = &state;
}

/// What is asked for v in this cycle. Whether it runs.
bool SolveLoop::set_goal(std::size_t v) {
  const bool running = results_[v].reason == StopReason::running;
  if (running) results_[v].restarts = cycle_;
  goal_.target2[v] = running ? tolerance2(v) : CorrectionGoal::done;
  goal_.budget[v] = std::max(1, corrector_.settings().max_iterations - results_[v].iterations);
  return running;
}

/// By |b - M x|^2: which right-hand sides are done, and what is asked for the others. Whether there are any.
bool SolveLoop::judge(const std::vector<double>& r_norm2) {
  bool working = false;
  for (std::size_t v = 0; v < n_; ++v) {
    if (!goal_.runs(v)) continue;
    SolveResult& result = results_[v];
    result.true_residual = b_norm2_[v] > 0 ? std::sqrt(r_norm2[v] / b_norm2_[v]) : std::sqrt(r_norm2[v]);
    if (!std::isfinite(r_norm2[v])) result.reason = StopReason::not_finite;
    else if (r_norm2[v] <= tolerance2(v) || (!has_tolerance(v) && result.reason == StopReason::converged))
      result.reason = StopReason::converged;
    else if (result.reason == StopReason::converged || result.reason == StopReason::stagnation)
      // The Krylov solver is done but the true residual is not there: correct again as long as that halves it.
      result.reason = cycle_ > 0 && r_norm2[v] > 0.25 * previous2_[v] && !corrector_.waits_longer(goal_, v) ? StopReason::stagnation
                                                                                                            : StopReason::running;
    else if (goal_.by_multigrid && result.reason == StopReason::iteration_limit && result.iterations < corrector_.settings().max_iterations)
      result.reason = StopReason::stagnation;
    if (result.reason == StopReason::running && result.iterations >= corrector_.settings().max_iterations)
      result.reason = StopReason::iteration_limit;
    previous2_[v] = goal_.r_norm2[v] = goal_.least2[v] = r_norm2[v];
    working = set_goal(v) || working;
  }
  return working;
}

/// Where multigrid is done with all right-hand sides, for what becomes of one must not depend on those beside it, another solver goes on
/// with those that it has failed. Whether there are any.
bool SolveLoop::fall_back(const std::vector<double>& r_norm2) {
  if (!goal_.by_multigrid || !corrector_.settings().multigrid->fallback) return false;
  goal_.by_multigrid = false;
  goal_.solver = find_krylov_solver(fallback_solver);
  bool working = false;
  for (std::size_t v = 0; v < n_; ++v) {
    SolveResult& result = results_[v];
    if (!std::isfinite(r_norm2[v]) || !is_failure(result.reason) || result.iterations >= corrector_.settings().max_iterations) continue;
    tell_of_multigrid(fmt::format("multigrid came to |b - M x| / |b| = {:.1e} in {} iterations ({}); {} goes on", result.true_residual,
                                  result.iterations, describe(result.reason), fallback_solver));
    result.reason = StopReason::running;
    working = set_goal(v) || working;
  }
  return working;
}

/// Adds what is known of the solutions.
void SolveLoop::begin_with_modes(const runtime::Guard& working) {
  const KnownModes& modes = corrector_.modes();
  const Deflation* const known = modes.help() ? modes.deflation() : nullptr;
  const bool serves = known != nullptr && (shifted_ ? known->splits() : known->serves(system_->parity()));
  // What half precision lets come back between reliable updates only the next correction takes out again.
  constexpr double half_gain2 = 1e-10;
  goal_.gain2 = !serves ? 0
                        : std::max({known->gain2(shifted_), corrector_.settings().precision == Precision::half ? half_gain2 : 0,
                                    goal_.solver->known_gain2});
  // Those that go as far as the shared space brings them are not corrected any more.
  for (std::size_t v = 0; v < n_; ++v)
    if (shifted_ && !has_tolerance(v)) goal_.gain2 = 0;
  if (!serves || shifted_ || goal_.resume != nullptr) return;
  known->correction(corrector_.action(), *system_, goal_.mass, e_, r_);
  for (const int parity : {0, 1}) blas::submit<blas::AddScaled>({&problem_.x.of(parity), &e_.of(parity)}, {1.0}, working);
  submit_residual(*system_, r_, problem_.b, problem_.x);
  const std::vector<double> left = norm2_of(r_);
  std::copy(left.begin(), left.end(), goal_.r_norm2.begin());
  for (std::size_t v = 0; v < n_; ++v) goal_.least2[v] = std::min(goal_.least2[v], left[v]);
}

/// Who is told of this cycle's iterations.
void SolveLoop::watch(const runtime::Guard& working) {
  if (progress_)
    goal_.progress = [this](int iterations, const double* norm2) {
      double worst = 0;
      for (std::size_t v = 0; v < n_; ++v)
        if (goal_.runs(v)) worst = std::max(worst, relative(v, norm2[v]));
      return progress_(spent_ + iterations, worst);
    };
  if (snapshots_.due && !shifted_ && problem_.part != nullptr)
    goal_.observe = [this, working](const KrylovState& seen, const std::function<KrylovSnapshot()>& now) {
      if (snapshots_.due(spent_ + seen.status.step)) take_snapshot(now, working);
    };
}

void SolveLoop::take_snapshot(const std::function<KrylovSnapshot()>& now, const runtime::Guard& working) {
  if (snapshots_.take_state) {
    const CorrectionNumbers numbers{.cycle = cycle_,
                                    .spent = spent_,
                                    .by_multigrid = goal_.by_multigrid ? 1 : 0,
                                    .target2 = goal_.target2,
                                    .r_norm2 = goal_.r_norm2,
                                    .least2 = goal_.least2,
                                    .previous2 = previous2_,
                                    .budget = goal_.budget,
                                    .patience = goal_.patience};
    return snapshots_.take_state(corrector_.state_of(numbers, results_, problem_.x, e_.of(system_->parity()), now(), *problem_.part));
  }
  const std::vector<HostField> iterates = corrector_.copy_of_iterate(*system_, problem_.x, e_, r_, working, *problem_.part);
  KrylovState then;
  std::memcpy(static_cast<void*>(&then), now().numbers.data(), sizeof then);
  std::vector<int> iterations(n_);
  for (std::size_t v = 0; v < n_; ++v)
    iterations[v] = results_[v].iterations + (!goal_.runs(v) ? 0 : then.stopped[v] != 0 ? then.iterations[v] : then.status.step);
  snapshots_.take(iterates, iterations);
}

/// x += e, and what it took.
void SolveLoop::correct(const runtime::Guard& working) {
  const KrylovResults inner =
      shifted_ ? corrector_.solve_shifted(*system_, e_, problem_.load, goal_) : corrector_.solve(*system_, e_, r_, goal_);
  idle_ += inner.idle;
  const auto interrupted = [](const KrylovResult& result) { return result.reason == StopReason::interrupted; };
  if (!shifted_ || std::none_of(inner.of_vectors.begin(), inner.of_vectors.end(), interrupted))
    for (const int parity : {0, 1}) blas::submit<blas::AddScaled>({&problem_.x.of(parity), &e_.of(parity)}, {1.0}, working);
  int longest = 0;
  for (std::size_t v = 0; v < n_; ++v) {
    const KrylovResult& of_vector = inner.of_vectors[v];
    longest = std::max(longest, of_vector.iterations);
    if (!goal_.runs(v)) continue;
    results_[v].refreshes += inner.refreshes;
    results_[v].reason = of_vector.reason;
    results_[v].iterations += of_vector.iterations;
    if (goal_.by_multigrid) results_[v].by_multigrid += of_vector.iterations;
    if (corrector_.settings().keep_history)
      for (const double norm2 : of_vector.norm2) results_[v].residual_history.push_back(relative(v, norm2));
  }
  spent_ += longest;
}

}  // namespace quarkstar
