#include "solvers/wilson_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "codelets/blas/blas.hpp"
#include "codelets/transfer/transfer.hpp"
#include "codelets/wilson/tuning.hpp"
#include "runtime/error.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/session.hpp"
#include "solvers/even_odd_wilson.hpp"
#include "solvers/krylov.hpp"
#include "solvers/mixed_precision.hpp"

namespace quarkstar {
namespace {

KrylovSolver find_solver(const std::string& name) {
  for (const NamedKrylovSolver& solver : krylov_solvers())
    if (solver.name == name) {
      if (!solver.any_operator)
        throw Error(ErrorKind::input, "--solver", fmt::format("'{}' needs a hermitian positive operator, which Wilson's is not", name),
                    fmt::format("use one of {}", fmt::join(solver_names(), ", ")));
      return solver.solve;
    }
  throw Error(ErrorKind::input, "--solver", fmt::format("unknown solver '{}'", name),
              fmt::format("use one of {}", fmt::join(solver_names(), ", ")));
}

/// The operator in one precision: layout, links, hopping term, even-odd system.
struct WilsonLevel {
  LatticePointer lattice;
  LinkField even, odd;
  wilson::Hopping hopping;
  EvenOddWilson system;

  WilsonLevel(const wilson::TuningProblem& problem, const HostGauge& gauge, const WilsonParameters& parameters,
              const SolverSettings& settings)
      : WilsonLevel(problem, wilson::tuning_for(problem, settings.tune), gauge, parameters, settings) {}

 private:
  WilsonLevel(const wilson::TuningProblem& problem, const wilson::HoppingTuning& tuning, const HostGauge& gauge,
              const WilsonParameters& parameters, const SolverSettings& settings)
      : lattice(std::make_shared<Lattice>(problem.decomposition, problem.precision, parameters.boundary, 16, 1, tuning.tile)),
        even(lattice, 0, problem.link_reals),
        odd(lattice, 1, problem.link_reals),
        hopping(load(even, odd, gauge), odd),
        system(hopping, parameters, settings.schur) {
    hopping.set_block_threads(tuning.block_threads);
  }

  static LinkField& load(LinkField& even, LinkField& odd, const HostGauge& gauge) {
    transfer::load_links(even, odd, gauge);
    return even;
  }
};

/// Both parities of a full-lattice field.
struct FullField {
  SpinorField even, odd;
  explicit FullField(const LatticePointer& lattice) : even(lattice, 0), odd(lattice, 1) {}
};

}  // namespace

struct WilsonSolver::Impl {
  SolverSettings settings;
  KrylovSolver krylov;
  WilsonLevel outer;                   ///< double precision: right-hand sides, corrections, true residuals
  std::unique_ptr<WilsonLevel> inner;  ///< the precision of the Krylov solver where that is another one
  runtime::PartialSums sums;

  Impl(const runtime::Decomposition& decomposition, const HostGauge& gauge, const WilsonParameters& parameters,
       const SolverSettings& s)
      : settings(s),
        krylov(find_solver(s.solver)),
        outer({decomposition, Precision::double_, s.precision == Precision::double_ ? s.link_reals : 18}, gauge, parameters, s),
        sums(static_cast<int>(decomposition.local().size())) {
    if (s.precision == Precision::double_) return;
    const double resident = wilson::links_bytes_a_site(Precision::double_, outer.even.reals());
    inner = std::make_unique<WilsonLevel>(wilson::TuningProblem{decomposition, s.precision, s.link_reals, resident}, gauge, parameters, s);
  }

  /// |field|^2 over both parities; waits for the tasks before it.
  double norm2(const FullField& field) {
    double total = 0;
    for (const SpinorField* part : {&field.even, &field.odd}) {
      blas::submit<blas::Norm>({part}, {}, nullptr, &sums);
      total += runtime::values_of(sums, 1).front();
    }
    return total;
  }

  /// r = b - M x.
  void residual(const FullField& r, const FullField& b, const FullField& x) {
    outer.system.minus_m(r.even, x.even, x.odd);
    outer.system.minus_m(r.odd, x.odd, x.even);
    blas::submit<blas::AddScaled>({&r.even, &b.even}, {{{1, 0}}});
    blas::submit<blas::AddScaled>({&r.odd, &b.odd}, {{{1, 0}}});
  }

  /// Solves M e = r for a correction e to |residual|^2 <= target2, in at most `budget` (> 0) iterations.
  KrylovResult correction(const FullField& e, const FullField& r, double target2, double r_norm2, int budget,
                          const KrylovProgress& progress, const std::function<void(int)>& observe) {
    KrylovLimits limits;
    limits.observe = observe;
    limits.most_iterations = budget;
    limits.check_every = settings.check_every;
    const double system2 = 1 / (outer.system.residual_scale() * outer.system.residual_scale());
    const SpinorField rhs(outer.lattice, EvenOddWilson::solved_parity);
    outer.system.prepare(rhs, r.even, r.odd);
    limits.target_norm2 = target2 * system2;
    const KrylovResult result =
        inner ? solve_below_double(outer.system, inner->system, krylov, settings, e.odd, rhs, limits, r_norm2 * system2, progress)
              : krylov(outer.system, e.odd, rhs, limits, progress);
    outer.system.reconstruct(e.even, r.even, e.odd);
    return result;
  }

  /// x + e as far as e has come, with e.even from e.odd. Waits for the tasks before it.
  HostSpinor copy_of_iterate(const FullField& x, const FullField& e, const FullField& r, const Box& part) {
    const FullField copy(outer.lattice);
    blas::submit<blas::Scale>({&copy.odd, &e.odd}, {{{1, 0}}});
    outer.system.reconstruct(copy.even, r.even, copy.odd);
    blas::submit<blas::AddScaled>({&copy.even, &x.even}, {{{1, 0}}});
    blas::submit<blas::AddScaled>({&copy.odd, &x.odd}, {{{1, 0}}});
    HostSpinor host(part);
    transfer::store_spinor(host, copy.even);
    transfer::store_spinor(host, copy.odd);
    runtime::Session::current().wait_all();
    return host;
  }

  /// x = 0, the solution for a zero source.
  void clear(const FullField& x) {
    for (const SpinorField* part : {&x.even, &x.odd}) blas::submit<blas::Fill>({part}, {{{0, 0}}});
  }
};

WilsonSolver::WilsonSolver(const runtime::Decomposition& decomposition, const HostGauge& gauge, const WilsonParameters& parameters,
                           const SolverSettings& settings) {
  if (settings.link_reals != 18 && settings.link_reals != 12 && settings.link_reals != 8)
    throw Error(ErrorKind::input, "--links", fmt::format("{} reals a link", settings.link_reals), "use 18, 12 or 8");
  check_limits(settings);
  constexpr double largest_kappa = 10;  // far beyond any use; the free critical value is 1/8
  if (!(parameters.kappa > 0) || parameters.kappa > largest_kappa)
    throw Error(ErrorKind::input, "--kappa", fmt::format("hopping parameter {}", parameters.kappa), "give a number between 0 and 10");
  for (const double angle : parameters.boundary)
    if (!(std::abs(angle) <= 2))
      throw Error(ErrorKind::input, "--boundary", fmt::format("an angle of {} pi", angle), "give angles between -2 and 2, in units of pi");
  impl_ = std::make_unique<Impl>(decomposition, gauge, parameters, settings);
}

WilsonSolver::~WilsonSolver() {
  if (runtime::Session::is_running()) runtime::Session::current().wait_all();
}

SolveResult WilsonSolver::solve(const HostSpinor& source, HostSpinor& solution, const Progress& progress, const Snapshots& snapshots) {
  Impl& s = *impl_;
  runtime::Session& session = runtime::Session::current();
  const FullField b(s.outer.lattice), x(s.outer.lattice), r(s.outer.lattice), e(s.outer.lattice);
  transfer::load_spinor(b.even, source);
  transfer::load_spinor(b.odd, source);
  transfer::load_spinor(x.even, solution);
  transfer::load_spinor(x.odd, solution);
  session.wait_all();
  const runtime::Totals before = session.events().totals();
  const auto start = std::chrono::steady_clock::now();

  SolveResult result;
  const double b_norm2 = s.norm2(b);
  if (b_norm2 == 0) s.clear(x);
  const double target2 = s.settings.tolerance * s.settings.tolerance * b_norm2;
  const double history_scale = b_norm2 > 0 ? s.outer.system.residual_scale() / std::sqrt(b_norm2) : 0;
  double previous2 = 0;
  Work idle;
  for (int cycle = 0;; ++cycle) {
    s.residual(r, b, x);
    const double r_norm2 = s.norm2(r);
    result.true_residual = b_norm2 > 0 ? std::sqrt(r_norm2 / b_norm2) : std::sqrt(r_norm2);
    if (!std::isfinite(r_norm2)) result.reason = StopReason::not_finite;
    else if (r_norm2 <= target2) result.reason = StopReason::converged;
    else if (result.reason == StopReason::converged || result.reason == StopReason::stagnation)
      // The Krylov solver is done but the true residual is not there: correct again as long as that halves it.
      result.reason = cycle > 0 && r_norm2 > 0.25 * previous2 ? StopReason::stagnation : StopReason::running;
    if (result.reason == StopReason::running && result.iterations >= s.settings.max_iterations)
      result.reason = StopReason::iteration_limit;
    if (result.reason != StopReason::running) break;
    previous2 = r_norm2;
    result.restarts = cycle;

    KrylovProgress report;
    if (progress)
      report = [&](int iterations, double norm2) { return progress(result.iterations + iterations, std::sqrt(norm2) * history_scale); };
    std::function<void(int)> observe;
    if (snapshots.due)
      observe = [&](int iterations) {
        if (snapshots.due(result.iterations + iterations)) snapshots.take(s.copy_of_iterate(x, e, r, solution.box()), result.iterations + iterations);
      };
    const KrylovResult inner = s.correction(e, r, target2, r_norm2, s.settings.max_iterations - result.iterations, report, observe);
    result.reason = inner.reason;
    result.iterations += inner.iterations;
    idle += inner.idle;
    if (s.settings.keep_history)
      for (const double norm2 : inner.norm2) result.residual_history.push_back(std::sqrt(norm2) * history_scale);
    blas::submit<blas::AddScaled>({&x.even, &e.even}, {{{1, 0}}});
    blas::submit<blas::AddScaled>({&x.odd, &e.odd}, {{{1, 0}}});
  }
  session.wait_all();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const runtime::Totals after = session.events().totals();
  double work[] = {after.submitted_cost.flops - before.submitted_cost.flops - idle.cost.flops,
                   after.submitted_cost.bytes - before.submitted_cost.bytes - idle.cost.bytes,
                   static_cast<double>(after.submitted_parts - before.submitted_parts - idle.tasks),
                   static_cast<double>(after.submitted - before.submitted)};
  runtime::mpi::Job::current().combine(std::span<double>(work), runtime::mpi::Combine::sum);
  result.flops = work[0];
  result.bytes = work[1];
  result.kernels = static_cast<std::int64_t>(work[2]);
  result.tasks = work[3];
  result.busy_us = after.busy_us - before.busy_us;
  transfer::store_spinor(solution, x.even);
  transfer::store_spinor(solution, x.odd);
  session.wait_all();
  return result;
}

}  // namespace quarkstar
