#include "apps/bench/bench_solver.hpp"

#include "apps/bench/bench_dslash.hpp"
#include "apps/run/solve_bound.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/observe/chrome_trace.hpp"
#include "runtime/system/clock.hpp"
#include "solvers/mixed_precision.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

namespace quarkstar::app {
namespace {

LinkField& load(LinkField& even, LinkField& odd, const HostGauge& gauge) {
  transfer::load_links(even, odd, gauge);
  return even;
}

/// Where the time of a task belongs.
double& part_of(SolverTiming& timing, runtime::CodeletKind kind) {
  using Kind = runtime::CodeletKind;
  if (kind == Kind::copy) return timing.conversion_us;
  if (kind == Kind::vector) return timing.blas_us;
  if (kind == Kind::stencil || kind == Kind::pack) return timing.dslash_us;
  return timing.scalars_us;
}

}  // namespace

void time_parts(SolverTiming& timing, runtime::Session& session, const runtime::Decomposition& decomposition,
                const std::function<void()>& solve) {
  session.events().reset();
  timing.has_parts = session.gpu_count() == 0 || owner_count(decomposition) == 1;
  if (!timing.has_parts) return;
  session.events().set_detail(runtime::Events::Detail::parts);
  solve();
  const int owners = owner_count(decomposition);  // fewer than may own, where there are fewer blocks
  for (int worker = 0; worker < session.block_owners(); ++worker)
    for (const runtime::Event& event : session.events().of_worker(worker))
      part_of(timing, event.kind) += (event.end_us - event.begin_us) / timing.iterations / owners;
  session.events().set_detail(runtime::Events::Detail::totals);
  session.events().reset();
}

namespace {

void find_bound(SolverTiming& timing, runtime::Session& session, const WatchedSolve& solve, const std::function<double()>& bytes) {
  std::optional<BoundMeter> meter;
  double start = 0;
  solve([&] {
    meter.emplace(session);
    start = runtime::now_us();
  });
  const BoundReport bound = meter->ended((runtime::now_us() - start) * 1e-6, bytes());
  timing.bound_us = 1e6 * std::max({bound.bandwidth_seconds, bound.critical_path_seconds, bound.assignment_seconds}) / timing.iterations;
}

void profile_workers(SolverTiming& timing, runtime::Session& session, const WatchedSolve& solve) {
  std::optional<runtime::WorkerProfile> profile;
  solve([&] { profile.emplace(session); });
  const std::vector<runtime::WorkerTimes> times = profile->times();
  for (std::size_t w = 0; w < times.size(); ++w) {
    const runtime::Worker& worker = session.worker(static_cast<int>(w));
    timing.workers.push_back({worker.name, worker.kind == runtime::Worker::Kind::cuda, times[w]});
  }
  timing.links = profile->links();
}

void trace_tasks(const std::string& file, runtime::Session& session, const WatchedSolve& solve) {
  solve([&] {
    session.events().reset();
    session.events().set_detail(runtime::Events::Detail::tasks);
  });
  runtime::write_chrome_trace(session, session.events(), file);
  session.events().set_detail(runtime::Events::Detail::totals);
  session.events().reset();
}

}  // namespace

void run_extra_solves(const ExtraSolves& extra, SolverTiming& timing, runtime::Session& session, const WatchedSolve& solve,
                      const std::function<double()>& bytes) {
  if (extra.bound) find_bound(timing, session, solve, bytes);
  if (extra.profile) profile_workers(timing, session, solve);
  if (!extra.trace.empty()) trace_tasks(extra.trace, session, solve);
}

BenchLevel::BenchLevel(const wilson::TuningProblem& problem, const wilson::HoppingTuning& tuning, const HostGauge& gauge, double kappa)
    : lattice(std::make_shared<Lattice>(problem.decomposition, problem.precision, antiperiodic_in_time, std::nullopt, 1, tuning.tile)),
      even(lattice, 0, problem.link_reals),
      odd(lattice, 1, problem.link_reals),
      hopping(load(even, odd, gauge), odd),
      system(hopping, {.kappa = kappa}, Schur::asymmetric),
      normal(system) {
  hopping.set_block_threads(tuning.block_threads);
  hopping.set_memory_access(tuning.memory);
}

SolverTiming time_solver(runtime::Session& session, const NamedKrylovSolver& solver, BenchLevel& outer, BenchLevel& inner,
                         const HostSpinor& wave, int iterations, int repetitions, const ExtraSolves& extra) {
  constexpr int parity = EvenOddWilson::solved_parity;
  const SpinorField source(outer.lattice, parity), rhs(outer.lattice, parity), x(outer.lattice, parity);
  transfer::load_spinor(source, wave);
  session.wait_all();
  LinearOperator &a = outer.operator_of(solver), &low = inner.operator_of(solver);
  const auto rhs_norm2 = static_cast<double>(outer.lattice->sites_of_parity()) * 12;  // components of modulus about 1
  KrylovLimits limits;
  limits.patience = std::numeric_limits<int>::max();
  SolverTiming timing, instrumented;  // what watching a solve costs is not in the first
  const int owners = owner_count(outer.lattice->decomposition());
  double bytes = 0;  // of the last solve
  const auto solve_once = [&](int count, SolverTiming& of, const std::function<void()>& begins = {}) {
    blas::submit<blas::Scale>({&rhs, &source}, {{{1, 0}}});
    session.wait_all();
    if (begins) begins();
    limits.most_iterations = count;
    const runtime::Totals before = session.events().totals();
    const double start = runtime::now_us();
    const KrylovResult result = &outer == &inner ? solver.solve(a, x, rhs, limits, {})
                                                 : solve_below_double(a, low, solver.solve, {}, x, rhs, limits, rhs_norm2, {});
    session.wait_all();
    const double wall_us = runtime::now_us() - start;
    const runtime::Totals after = session.events().totals();
    of.iterations = result.iterations;
    of.refreshes = result.refreshes;
    bytes = after.submitted_cost.bytes - before.submitted_cost.bytes - result.idle.cost.bytes;
    of.us_per_task =
        std::max(0.0, wall_us * owners - (after.busy_us - before.busy_us)) / static_cast<double>(after.submitted - before.submitted);
    return wall_us / result.iterations;
  };
  const int batch = limits.check_every;
  iterations = (iterations + batch - 1) / batch * batch;

  // One batch of iterations more: what it submits beyond the shorter solve is that batch, whatever a solve does before and after.
  const SpinorField low_x(inner.lattice, parity), low_r(inner.lattice, parity);
  runtime::Totals submitted[3];
  submitted[0] = session.events().totals();
  for (int batches = 1; batches <= 2; ++batches) {
    transfer::convert(low_r, source);
    limits.most_iterations = batches * batch;
    solver.solve(low, low_x, low_r, limits, {});
    session.wait_all();
    submitted[batches] = session.events().totals();
  }
  const auto an_iteration = [&](auto count) {
    const auto of = [&](int solve) { return std::invoke(count, submitted[solve]); };
    const auto shorter = of(1) - of(0), longer = of(2) - of(1);
    return static_cast<double>(longer - shorter) / batch;
  };
  timing.flops = an_iteration([](const runtime::Totals& totals) { return totals.submitted_cost.flops; });
  timing.bytes = an_iteration([](const runtime::Totals& totals) { return totals.submitted_cost.bytes; });
  timing.tasks = an_iteration(&runtime::Totals::submitted);
  timing.kernels = an_iteration(&runtime::Totals::submitted_parts);

  solve_once(2 * batch, timing);
  std::vector<double> times;
  for (int r = 0; r < repetitions; ++r) times.push_back(solve_once(iterations, timing));
  std::sort(times.begin(), times.end());
  timing.best_us = times.front();
  timing.median_us = times[times.size() / 2];

  run_extra_solves(
      extra, timing, session, [&](const auto& begins) { solve_once(iterations, instrumented, begins); }, [&] { return bytes; });
  time_parts(timing, session, outer.lattice->decomposition(), [&] { solve_once(iterations, instrumented); });
  return timing;
}

}  // namespace quarkstar::app
