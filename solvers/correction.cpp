#include "solvers/correction.hpp"

#include "codelets/actions/submit_together.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"
#include "solvers/krylov/batches.hpp"
#include "solvers/krylov/fixed_steps.hpp"
#include "solvers/multigrid/set_up.hpp"
#include "solvers/normal_operator.hpp"
#include "solvers/shifted_system.hpp"
#include "solvers/solver_choice.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace quarkstar {
namespace {

/// Iterations after which multigrid stalls: several times as many as it ever needs.
constexpr int most_multigrid_iterations = 100;

/// Iterations after which what a solution has gained goes into a RecycledSpace: the fewer, the more of the modes that are resolved late,
/// and each time costs two applications of the operator and the products with the space (docs/results/2026-11-28-recycling.md).
constexpr int iterations_of_a_gain = 8;

/// A power of two that brings numbers of this square near 1, away from where single precision underflows; it changes no
/// digit.
double scale_of(double norm2) { return norm2 > 0 && std::isfinite(norm2) ? std::exp2(-std::round(0.5 * std::log2(norm2))) : 1; }

/// Iterations, where so many fit an int.
int iterations_of(double number) { return static_cast<int>(std::min(number, 1e9)); }

}  // namespace

void submit_residual(EvenOdd& system, const FullField& r, const FullField& b, const FullField& x) {
  submit_together([&] {
    for (const int parity : {0, 1}) system.times_m(r.of(parity), x, -1);
    for (const int parity : {0, 1}) blas::submit<blas::AddScaled>({&r.of(parity), &b.of(parity)}, {1.0});
  });
}

Corrector::Corrector(const SolverSettings& settings, const NamedKrylovSolver& krylov, int components, bool is_hermitian,
                     PreparedActions prepared)
    : settings_(settings),
      krylov_(&krylov),
      components_(components),
      is_hermitian_(is_hermitian),
      prepared_(std::move(prepared)),
      modes_(*prepared_.outer, components, is_hermitian, settings.recycle) {
  prepared_.set_resident();
}

void Corrector::set_up_multigrid() {
  PreparedAction& fine = prepared_.krylov();
  if (!fine.own_mass())
    throw Error(ErrorKind::input, Parameter("aggregate"), "multigrid is set up for one mass, and this action has several, or none",
                "give one");
  multigrid_ = set_up(fine, *settings_.multigrid, *fine.own_mass());
  if (!multigrid_) krylov_ = find_krylov_solver(fallback_solver);
}

void Corrector::prepare(int n) {
  prepared_.outer->prepare(n);
  if (krylov_->shifted) prepared_.krylov().prepare(1);
  if (krylov_->shifted && modes_.deflation() != nullptr) prepared_.outer->prepare(1);
  if (prepared_.inner) prepared_.inner->prepare(n);  // a shifted solve refines with all of them
}

/// What of a correction is kept: below double precision its sum too, beside the Krylov solver's own fields.
std::vector<const Field*> Corrector::kept_fields(const Field& sum, std::span<const Field* const> of_solver) const {
  std::vector<const Field*> fields;
  if (below_double()) fields.push_back(&sum);
  fields.insert(fields.end(), of_solver.begin(), of_solver.end());
  return fields;
}

bool Corrector::waits_longer(CorrectionGoal& goal, std::size_t v) const {
  if (!is_hermitian_ || !below_double() || goal.patience[v] > 0) return false;
  goal.patience[v] = iterations_of(2 / goal.mass[v]);
  return goal.patience[v] > usual_patience();
}

/// Limits of a Krylov solve, with refreshes or without, whose residual is factor_v times that of M x = b.
KrylovLimits Corrector::limits_of(const NamedKrylovSolver& solver, const CorrectionGoal& goal, const PerVector& factor,
                                  bool refreshes) const {
  KrylovLimits limits;
  limits.check_every = settings_.check_every;
  limits.restart = settings_.restart;
  limits.most_iterations = goal.budget;
  limits.observe = goal.observe;
  limits.refresh.every = solver.refresh_every;
  if (solver.flexible) limits.precondition = prepared_.krylov().preconditioner();
  // What one solve without refreshes can gain: five digits in single precision, two in half; asking for more would
  // end in stagnation.
  const bool half = settings_.precision == Precision::half;
  const double gain2 = half ? 1e-4 : 1e-10;
  if (below_double()) limits.resolution = half ? 1e-2 : 1e-3;  // what the low precision's products leave certain
  for (std::size_t v = 0; v < goal.n; ++v) {
    limits.patience[v] = std::max(goal.patience[v], usual_patience());
    // |r| of conjugate gradient does not fall all the time. Of a source that is smooth it first stays above |b| until the lowest modes
    // are resolved, for about the largest eigenvalue over the smallest, some 1 / m iterations.
    if (is_hermitian_ && goal.runs(v)) limits.patience_at_first[v] = iterations_of(5 / goal.mass[v]);
    double target2 = below_double() && !refreshes ? std::max(goal.target2[v], gain2 * goal.r_norm2[v]) : goal.target2[v];
    target2 = std::max(target2, goal.gain2 * goal.least2[v]);
    limits.target_norm2[v] = goal.runs(v) ? target2 * factor[v] * factor[v] : CorrectionGoal::done;
  }
  return limits;
}

/// Runs `solver` in its precision for A x = rhs, rhs overwritten, x and rhs in double precision. factor: as above. outer_system: A in
/// double precision, for reliable updates where the solver knows them, and to gather modes; nullptr: without.
KrylovResults Corrector::solve_scaled(const NamedKrylovSolver& solver, LinearOperator& system, EvenOdd* outer_system, const Field& x,
                                      const Field& rhs, const CorrectionGoal& goal, const PerVector& factor, const PerVector& shifts) {
  const PerVector scale =
      below_double() ? for_each_vector(goal.n, [&](std::size_t v) { return scale_of(goal.r_norm2[v]); }) : same_for_all(1);
  const PerVector whole = for_each_vector(goal.n, [&](std::size_t v) { return factor[v] * scale[v]; });
  KrylovProgress progress;
  if (goal.progress)
    progress = [&](int iterations, const double* norm2) {
      const PerVector unscaled = for_each_vector(goal.n, [&](std::size_t v) { return norm2[v] / (scale[v] * scale[v]); });
      return goal.progress(iterations, unscaled.data());
    };
  // What low precision lets come back of a projector's space only a correction takes out again. Of a normal operator one in half
  // precision may gain nothing: its errors come back divided by 2m.
  const bool restarts =
      settings_.updates != Updates::reliable || (modes_.help() && !(is_hermitian_ && settings_.precision == Precision::half));
  const bool refreshes = below_double() && outer_system != nullptr && solver.reliable_updates && !restarts;
  KrylovLimits limits = limits_of(solver, goal, whole, refreshes);
  limits.shifts = shifts;
  if (goal.resume != nullptr)
    limits.resume = {krylov_numbers(*goal.resume), [&](std::span<const Field* const> fields) {
                       load_halves(kept_fields(x, fields),
                                   std::span(goal.resume->fields).subspan(static_cast<std::size_t>(x.site_vectors())));
                     }};
  std::optional<FixedSteps> inner;
  if (solver.flexible && settings_.inner) {
    inner.emplace(system, *find_krylov_solver(settings_.inner->name), settings_.inner->steps, settings_.restart);
    limits.precondition = [&](const Field& out, const Field& in, const runtime::Guard& guard) { inner->apply(out, in, guard); };
  }
  std::optional<MultigridCycle> cycle;
  if (goal.by_multigrid) {
    for (std::size_t v = 0; v < goal.n; ++v) limits.most_iterations[v] = std::min(limits.most_iterations[v], most_multigrid_iterations);
    cycle.emplace(system, *multigrid_);
    limits.precondition = [&](const Field& out, const Field& in, const runtime::Guard& guard) { cycle->apply(out, in, guard); };
  }
  KrylovResults results = below_double() || modes_.gathers()
                              ? solve_below(solver, system, outer_system, x, rhs, goal, scale, limits, progress, refreshes)
                              : solve_by(solver.make, system, x, rhs, limits, progress);
  for (std::size_t v = 0; v < goal.n; ++v)
    for (double& norm2 : results.of_vectors[v].norm2) norm2 /= scale[v] * scale[v];
  return results;
}

/// The part of solve_scaled() for a solution that is summed in x beside the Krylov solver: in a lower precision, or where modes are
/// gathered from what it gains. limits: without those that belong to that.
KrylovResults Corrector::solve_below(const NamedKrylovSolver& solver, LinearOperator& system, EvenOdd* outer_system, const Field& x,
                                     const Field& rhs, const CorrectionGoal& goal, const PerVector& scale, KrylovLimits& limits,
                                     const KrylovProgress& progress, bool refreshes) {
  const PerVector inverse = for_each_vector(goal.n, [&](std::size_t v) { return 1 / scale[v]; });
  const Field low_x = system.field(x.vectors()), low_b = system.field(rhs.vectors());
  const Field scaled(lattice(), x.parity(), components_, rhs.vectors()), wide(lattice(), x.parity(), components_, x.vectors());
  blas::submit<blas::Fill>({&x}, {0.0});
  blas::submit<blas::Fill>({&wide}, {0.0});  // a refresh that is not due keeps what is there, so something must be
  blas::submit<blas::Scale>({&scaled, &rhs}, {scale});
  transfer::convert(low_b, scaled);
  const auto add_to_x = [&](const Field& low, const runtime::Guard& guard) {
    transfer::convert(wide, low, guard);
    blas::submit<blas::AddScaled>({&x, &wide}, {inverse}, guard);
  };
  if (refreshes) {
    limits.refresh.drop = settings_.refresh_drop > 0 ? settings_.refresh_drop : settings_.precision == Precision::half ? 0.1 : 1e-3;
    limits.refresh.submit = [&](const Field& low, const Field& low_r, const runtime::Guard& due) {
      add_to_x(low, due);
      blas::submit<blas::Fill>({&low}, {0.0}, due);
      outer_system->apply(wide, x, {}, false, due);
      blas::submit<blas::AddScaled>({&wide, &rhs}, {-1.0}, due);
      blas::submit<blas::Scale>({&scaled, &wide}, {-blas::Coefficient(scale)}, due);
      transfer::convert(low_r, scaled, due);
    };
  }
  std::optional<Field> before;  // x at the last pause: of what is gained a refresh has moved some into x already
  if (modes_.gathers()) {
    if (refreshes) {
      before.emplace(lattice(), x.parity(), components_, x.vectors());
      blas::submit<blas::Fill>({&*before}, {0.0});
    }
    limits.pauses.every = limits.check_every = iterations_a_batch(iterations_of_a_gain, solver.keeps_directions ? settings_.restart : 0);
    limits.pauses.at = [&](const Field& low) {
      add_to_x(low, {});
      blas::submit<blas::Fill>({&low}, {0.0});
      if (before) {
        blas::submit<blas::Scale>({&wide, &x}, {1.0});
        blas::submit<blas::AddScaled>({&wide, &*before}, {-1.0});
        blas::submit<blas::Scale>({&*before, &x}, {1.0});
      }
      modes_.gather(*outer_system, wide, goal.mass);
    };
  }
  const KrylovResults results = solve_by(solver.make, system, low_x, low_b, limits, progress);
  add_to_x(low_x, {});
  return results;
}

KrylovResults Corrector::solve(EvenOdd& outer, const FullField& e, const FullField& r, const CorrectionGoal& goal) {
  const auto n = static_cast<int>(goal.n);
  const Field rhs = outer.field();
  outer.prepare(rhs, r);
  const std::unique_ptr<EvenOdd> inner = prepared_.inner ? prepared_.inner->system(n, goal.mass, outer.parity()) : nullptr;
  EvenOdd& system = inner ? *inner : outer;
  const PerVector factor = for_each_vector(goal.n, [&](std::size_t v) { return outer.residual_factor(v); });
  const NamedKrylovSolver& solver = krylov_->shifted ? conjugate_gradients(is_hermitian_) : *goal.solver;
  KrylovResults results = solve_scaled(solver, system, &outer, e.of(outer.parity()), rhs, goal, factor, {});
  outer.reconstruct(e.of(1 - outer.parity()), r, e.of(outer.parity()));
  return results;
}

KrylovResults Corrector::solve_shifted(EvenOdd& outer, const FullField& e, const LoadSources& load, const CorrectionGoal& goal) {
  const auto n = static_cast<int>(goal.n);
  const auto shift = [this](double mass, double base) { return prepared_.outer->shift_between(mass, base).value(); };
  const double least = *std::min_element(goal.mass.begin(), goal.mass.begin() + n, [&](double a, double b) { return shift(a, b) < 0; });
  const PerVector shifts = for_each_vector(goal.n, [&](std::size_t v) { return shift(goal.mass[v], least); });
  const FullField y(lattice(), components_, n);
  if (!prepared_.outer->normal_keeps_parity()) {
    const FullField b(lattice(), components_);
    const Field rhs(lattice(), both_parities, components_), solutions(lattice(), both_parities, components_, n);
    for (const int parity : {0, 1}) load(b.of(parity));
    for (const int parity : {0, 1}) transfer::convert(rhs, b.of(parity));
    const std::unique_ptr<EvenOdd> m = prepared_.krylov().system(1, same_for_all(least));
    NormalOperator system(*m);
    KrylovResults results = solve_scaled(*krylov_, system, nullptr, solutions, rhs, goal, same_for_all(1), shifts);
    for (const int parity : {0, 1}) transfer::convert(y.of(parity), solutions);
    outer.adjoint_m(e, y);
    return results;
  }
  CorrectionGoal half = goal;  // a parity may keep half of the residual
  for (std::size_t v = 0; v < goal.n; ++v)
    if (goal.runs(v)) half.target2[v] /= 2;
  KrylovResults all{std::vector<KrylovResult>(goal.n), 0, {}};
  for (const int parity : {0, 1}) {
    const Field rhs(lattice(), parity, components_);
    load(rhs);
    std::optional<Field> known;
    if (const Deflation* const deflation = modes_.deflation(); deflation != nullptr && deflation->splits()) {
      known.emplace(lattice(), parity, components_, n);
      const std::unique_ptr<EvenOdd> of_one = prepared_.outer->system(1, same_for_all(0), deflation->parity());
      deflation->split(*prepared_.outer, goal.mass, *known, rhs, *of_one, outer);
    }
    const std::unique_ptr<EvenOdd> system = prepared_.krylov().system(1, same_for_all(least), parity);
    const KrylovResults part = solve_scaled(*krylov_, *system, nullptr, y.of(parity), rhs, half, same_for_all(1), shifts);
    if (known) blas::submit<blas::AddScaled>({&y.of(parity), &*known}, {1.0});
    all.idle += part.idle;
    for (std::size_t v = 0; v < goal.n; ++v) {
      const KrylovResult& of_parity = part.of_vectors[v];
      KrylovResult& result = all.of_vectors[v];
      if (parity == 0 || result.reason == StopReason::converged) result.reason = of_parity.reason;
      result.iterations += of_parity.iterations;
      result.norm2.insert(result.norm2.end(), of_parity.norm2.begin(), of_parity.norm2.end());
      half.budget[v] = std::max(1, half.budget[v] - of_parity.iterations);
    }
    runtime::Session::current().wait_all();  // the vectors of one parity go before those of the other come
  }
  outer.adjoint_m(e, y);
  return all;
}

KrylovResults Corrector::solve_normal(const Field& e, const Field& r, const CorrectionGoal& goal, const PerVector& shifts) {
  const std::unique_ptr<EvenOdd> system = prepared_.krylov().system(r.vectors(), goal.mass, r.parity());
  if (r.vectors() > 1) {
    ShiftedSystem shifted(*system, shifts);
    return solve_scaled(conjugate_gradients(true), shifted, nullptr, e, r, goal, same_for_all(1), {});
  }
  SquaredSystem squared(*system);
  return solve_scaled(shifted_solver(), squared, nullptr, e, r, goal, same_for_all(1), shifts);
}

std::vector<HostField> Corrector::copy_of_iterate(EvenOdd& outer, const FullField& x, const FullField& e, const FullField& r,
                                                  const runtime::Guard& working, const Box& part) const {
  const int n = x.even.vectors(), solved = outer.parity();
  const FullField copy(lattice(), components_, n);
  const Field other(lattice(), 1 - solved, components_, n);
  outer.reconstruct(other, r, e.of(solved));
  for (const int parity : {0, 1}) {
    blas::submit<blas::Scale>({&copy.of(parity), &x.of(parity)}, {1.0});
    blas::submit<blas::AddScaled>({&copy.of(parity), parity == solved ? &e.of(solved) : &other}, {1.0}, working);
  }
  std::vector<HostField> host(static_cast<std::size_t>(copy.even.site_vectors()), HostField(components_, part));
  for (const int parity : {0, 1}) transfer::store(host, copy.of(parity));
  runtime::Session::current().wait_all();
  return host;
}

SolveState Corrector::state_of(const CorrectionNumbers& numbers, const std::vector<SolveResult>& results, const FullField& x,
                               const Field& sum, const KrylovSnapshot& now, const Box& part) const {
  SolveState state{results, {}, std::vector<HostField>(static_cast<std::size_t>(x.even.site_vectors()), HostField(components_, part))};
  const std::span<const std::byte> bytes = std::as_bytes(std::span(&numbers, 1));
  state.numbers.assign(bytes.begin(), bytes.end());
  state.numbers.insert(state.numbers.end(), now.numbers.begin(), now.numbers.end());
  for (const int parity : {0, 1}) transfer::store(state.fields, x.of(parity));
  store_halves(state.fields, kept_fields(sum, now.fields), part);
  return state;
}

}  // namespace quarkstar
