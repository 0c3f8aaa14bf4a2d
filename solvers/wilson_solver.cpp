#include "solvers/wilson_solver.hpp"

#include "codelets/actions/wilson/schwarz.hpp"
#include "codelets/actions/wilson/tuning.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/graph/handle_pool.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "solvers/even_odd_wilson.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/submit_together.hpp"
#include "solvers/mixed_precision.hpp"
#include "solvers/wait_for_readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

namespace quarkstar {
namespace {

KrylovSolver find_solver(const SolverSettings& settings) {
  const std::string& name = settings.solver;
  for (const NamedKrylovSolver& solver : krylov_solvers())
    if (solver.name == name) {
      if (settings.schwarz && !solver.flexible)
        throw Error(ErrorKind::input, "--schwarz-block",
                    fmt::format("the preconditioner differs from one application to the next, and {} cannot do with that", name),
                    "use --solver gcr");
      if (!solver.any_operator)
        throw Error(ErrorKind::input, "--solver", fmt::format("'{}' needs a hermitian positive operator, which Wilson's is not", name),
                    fmt::format("use one of {}", fmt::join(solver_names(), ", ")));
      return solver.solve;
    }
  throw Error(ErrorKind::input, "--solver", fmt::format("unknown solver '{}'", name),
              fmt::format("use one of {}", fmt::join(solver_names(), ", ")));
}

/// What a solve needs of the operator for itself while others are in flight: faces, sums, the image of the first hop.
struct WilsonSystem {
  wilson::Hopping hopping;
  EvenOddWilson system;
  WilsonSystem(const LinkField& even, const LinkField& odd, const wilson::HoppingTuning& tuning, const WilsonParameters& parameters,
               Schur schur)
      : hopping(even, odd), system(hopping, parameters, schur) {
    hopping.set_block_threads(tuning.block_threads);
    hopping.set_memory_access(tuning.memory);
  }
};

/// The operator in one precision: layout, links, and for each solve in flight its even-odd system.
struct WilsonLevel {
  LatticePointer lattice;
  LinkField even, odd;
  std::optional<wilson::Schwarz> schwarz;

  /// That of the solve which has the turn.
  EvenOddWilson& system() {
    const auto lane = static_cast<std::size_t>(runtime::Turns::lane());
    if (systems_.size() <= lane) systems_.resize(lane + 1);
    if (!systems_[lane]) systems_[lane] = std::make_unique<WilsonSystem>(even, odd, tuning_, parameters_, schur_);
    return systems_[lane]->system;
  }

  /// domains: those of the preconditioner, on the level of the Krylov solver.
  WilsonLevel(const wilson::TuningProblem& problem, const HostGauge& gauge, const WilsonParameters& parameters,
              const SolverSettings& settings, const std::optional<SchwarzSettings>& domains)
      : WilsonLevel(problem, wilson::tuning_for(problem, settings.tune), gauge, parameters, settings, domains) {}

 private:
  WilsonLevel(const wilson::TuningProblem& problem, const wilson::HoppingTuning& tuning, const HostGauge& gauge,
              const WilsonParameters& parameters, const SolverSettings& settings, const std::optional<SchwarzSettings>& domains)
      : lattice(std::make_shared<Lattice>(problem.decomposition, problem.precision, parameters.boundary, std::nullopt, 1, tuning.tile,
                                          domains ? domains->domain : Coord{2, 2, 2, 2})),
        even(lattice, 0, problem.link_reals),
        odd(lattice, 1, problem.link_reals),
        tuning_(tuning),
        parameters_(parameters),
        schur_(settings.schur) {
    transfer::load_links(even, odd, gauge);
    if (domains) schwarz.emplace(even, odd, domains->domain, domains->steps, system().diagonal(), system().hops());
  }

  wilson::HoppingTuning tuning_;
  WilsonParameters parameters_;
  Schur schur_;
  std::vector<std::unique_ptr<WilsonSystem>> systems_;  ///< by Turns::lane()
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
  runtime::HandlePools pools;          ///< for the fields of a solve

  Impl(const runtime::Decomposition& decomposition, const HostGauge& gauge, const WilsonParameters& parameters, const SolverSettings& s)
      : settings(s),
        krylov(find_solver(s)),
        outer({decomposition, Precision::double_, s.precision == Precision::double_ ? s.link_reals : 18}, gauge, parameters, s,
              s.precision == Precision::double_ ? s.schwarz : std::nullopt) {
    if (s.precision == Precision::double_) return;
    const double resident = wilson::links_bytes_a_site(Precision::double_, outer.even.reals());
    inner = std::make_unique<WilsonLevel>(wilson::TuningProblem{decomposition, s.precision, s.link_reals, resident}, gauge, parameters, s,
                                          s.schwarz);
  }

  /// |field|^2 over both parities; waits for the tasks before it.
  double norm2(const FullField& field) {
    double total = 0;
    const runtime::PartialSums sums(static_cast<int>(outer.lattice->local_blocks().size()));
    for (const SpinorField* part : {&field.even, &field.odd}) {
      blas::submit<blas::Norm>({part}, {}, nullptr, &sums);
      total += runtime::values_of(sums, 1).front();
    }
    return total;
  }

  /// r = b - M x.
  void residual(const FullField& r, const FullField& b, const FullField& x) {
    submit_together([&] {
      outer.system().minus_m(r.even, x.even, x.odd);
      outer.system().minus_m(r.odd, x.odd, x.even);
      blas::submit<blas::AddScaled>({&r.even, &b.even}, {{{1, 0}}});
      blas::submit<blas::AddScaled>({&r.odd, &b.odd}, {{{1, 0}}});
    });
  }

  /// Solves M e = r for a correction e to |residual|^2 <= target2, in at most `budget` (> 0) iterations.
  KrylovResult correction(const FullField& e, const FullField& r, double target2, double r_norm2, int budget,
                          const KrylovProgress& progress, const decltype(KrylovLimits::observe)& observe) {
    KrylovLimits limits;
    limits.observe = observe;
    limits.most_iterations = budget;
    limits.check_every = settings.check_every;
    limits.restart = settings.restart;
    if (const WilsonLevel& level = inner ? *inner : outer; level.schwarz)
      limits.precondition = [&level](const SpinorField& to, const SpinorField& from, const runtime::Guard& guard) {
        level.schwarz->apply(to, from, guard);
      };
    const double system2 = 1 / (outer.system().residual_scale() * outer.system().residual_scale());
    const SpinorField rhs(outer.lattice, EvenOddWilson::solved_parity);
    outer.system().prepare(rhs, r.even, r.odd);
    limits.target_norm2 = target2 * system2;
    const KrylovResult result =
        inner ? solve_below_double(outer.system(), inner->system(), krylov, settings, e.odd, rhs, limits, r_norm2 * system2, progress)
              : krylov(outer.system(), e.odd, rhs, limits, progress);
    outer.system().reconstruct(e.even, r.even, e.odd);
    return result;
  }

  /// x + e as far as e has come, with e.even from e.odd. Waits for the tasks before it.
  HostSpinor copy_of_iterate(const FullField& x, const FullField& e, const FullField& r, const Box& part) {
    const FullField copy(outer.lattice);
    blas::submit<blas::Scale>({&copy.odd, &e.odd}, {{{1, 0}}});
    outer.system().reconstruct(copy.even, r.even, copy.odd);
    blas::submit<blas::AddScaled>({&copy.even, &x.even}, {{{1, 0}}});
    blas::submit<blas::AddScaled>({&copy.odd, &x.odd}, {{{1, 0}}});
    HostSpinor host(part);
    transfer::store_spinor(host, copy.even);
    transfer::store_spinor(host, copy.odd);
    runtime::Session::current().wait_all();
    return host;
  }

  /// x = 0.
  void clear(const FullField& x) {
    for (const SpinorField* part : {&x.even, &x.odd}) blas::submit<blas::Fill>({part}, {{{0, 0}}});
  }
};

WilsonSolver::WilsonSolver(const runtime::Decomposition& decomposition, const HostGauge& gauge, const WilsonParameters& parameters,
                           const SolverSettings& settings) {
  if (settings.link_reals != 18 && settings.link_reals != 12 && settings.link_reals != 8)
    throw Error(ErrorKind::input, "--links", fmt::format("{} reals a link", settings.link_reals), "use 18, 12 or 8");
  check_limits(settings);
  if (settings.schwarz) wilson::require_domains(decomposition, settings.schwarz->domain);
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
  for (WilsonLevel* level : {&s.outer, s.inner.get()})
    if (level != nullptr) level->system();  // it outlives the solve, so its handles are not the pool's
  const runtime::HandlePool::Use pooled(s.pools.mine());
  const FullField b(s.outer.lattice), x(s.outer.lattice), r(s.outer.lattice), e(s.outer.lattice);
  transfer::load_spinor(b.even, source);
  transfer::load_spinor(b.odd, source);
  const bool guessed = runtime::mpi::Job::current().any(
      std::any_of(solution.data.begin(), solution.data.end(), [](const std::complex<double>& c) { return c != 0.0; }));
  if (guessed) {
    transfer::load_spinor(x.even, solution);
    transfer::load_spinor(x.odd, solution);
  } else {
    s.clear(x);  // zeros need not cross a bus
  }
  const bool alone = !runtime::Turns::taken();
  if (alone) session.wait_all();
  const double busy_before = alone ? session.events().totals().busy_us : 0;
  const runtime::Submissions before = runtime::Events::of_this_thread();
  const auto start = std::chrono::steady_clock::now();

  SolveResult result;
  const double b_norm2 = s.norm2(b);
  if (b_norm2 == 0) s.clear(x);
  const double target2 = s.settings.tolerance * s.settings.tolerance * b_norm2;
  const double history_scale = b_norm2 > 0 ? s.outer.system().residual_scale() / std::sqrt(b_norm2) : 0;
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
    if (result.reason == StopReason::running && result.iterations >= s.settings.max_iterations) result.reason = StopReason::iteration_limit;
    if (result.reason != StopReason::running) break;
    previous2 = r_norm2;
    result.restarts = cycle;

    KrylovProgress report;
    if (progress)
      report = [&](int iterations, double norm2) { return progress(result.iterations + iterations, std::sqrt(norm2) * history_scale); };
    decltype(KrylovLimits::observe) observe;
    if (snapshots.due)
      observe = [&](int iterations, const std::function<int()>& now) {
        if (!snapshots.due(result.iterations + iterations)) return;
        const HostSpinor iterate = s.copy_of_iterate(x, e, r, solution.box());
        snapshots.take(iterate, result.iterations + now());
      };
    const KrylovResult inner = s.correction(e, r, target2, r_norm2, s.settings.max_iterations - result.iterations, report, observe);
    result.reason = inner.reason;
    result.iterations += inner.iterations;
    result.refreshes += inner.refreshes;
    idle += inner.idle;
    if (s.settings.keep_history)
      for (const double norm2 : inner.norm2) result.residual_history.push_back(std::sqrt(norm2) * history_scale);
    blas::submit<blas::AddScaled>({&x.even, &e.even}, {{{1, 0}}});
    blas::submit<blas::AddScaled>({&x.odd, &e.odd}, {{{1, 0}}});
  }
  if (alone) session.wait_all();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const runtime::Submissions& after = runtime::Events::of_this_thread();
  double work[] = {after.cost.flops - before.cost.flops - idle.cost.flops, after.cost.bytes - before.cost.bytes - idle.cost.bytes,
                   static_cast<double>(after.parts - before.parts - idle.tasks), static_cast<double>(after.tasks - before.tasks)};
  runtime::mpi::Job::current().combine(std::span<double>(work), runtime::mpi::Combine::sum);
  result.flops = work[0];
  result.bytes = work[1];
  result.kernels = static_cast<std::int64_t>(work[2]);
  result.tasks = work[3];
  result.busy_us = alone ? session.events().totals().busy_us - busy_before : 0;
  transfer::store_spinor(solution, x.even);
  transfer::store_spinor(solution, x.odd);
  if (alone) session.wait_all();
  else wait_for_readers(x.even, x.odd);
  return result;
}

}  // namespace quarkstar
