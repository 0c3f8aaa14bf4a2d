#include "apps/bench/action_bench.hpp"

#include "apps/run/config.hpp"
#include "apps/run/solve_plan.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/gauge/heatbath/start.hpp"
#include "runtime/backend.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/mpi/rank_grid.hpp"
#include "runtime/system/error.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/solver.hpp"

#include <algorithm>
#include <utility>

namespace quarkstar::app {
namespace {

/// A field of zeros; without data where nobody reads it, as heatbath::hot_start().
HostField host_field(int components, const Coord& lattice) {
  if constexpr (runtime::backend::computes) return HostField(components, lattice);
  HostField field;
  field.components = components;
  field.extents = lattice;
  return field;
}

}  // namespace

SettingValues benchmarked(const ActionKind& kind, const SettingValues& given) {
  SettingValues values;
  for (const auto& [key, value] : kind.bench_settings) set_value(values, *kind.setting(key), value);
  const double mass = kind.bench_mass.usual;
  const ActionSetting& of_mass = *kind.setting(kind.mass_key);
  set_value(values, of_mass, of_mass.type == ActionSetting::Type::reals ? SettingValue(std::vector{mass}) : SettingValue(mass));
  for (const auto& [key, value] : given) values.insert_or_assign(key, value);
  return values;
}

runtime::Decomposition ActionBench::cut(const runtime::Session& session, const Coord& lattice, const ActionKind& action,
                                        const Coord& blocks) {
  const int owners = session.block_owners();
  const runtime::mpi::Job& job = runtime::mpi::Job::current();
  if (!runtime::backend::computes && job.is_distributed()) {  // simulated: real benches run on one rank
    if (blocks[0] > 0) throw Error(ErrorKind::input, Parameter("blocks"), "a simulated rank has one block", "leave it out");
    const std::vector<double> alike(static_cast<std::size_t>(job.size()), 1.0);
    return {lattice, runtime::mpi::make_rank_grid(lattice, {}, alike, job.rank(), {.thinnest = action.reach}), {1, 1, 1, 1}, owners};
  }
  return {lattice, block_grid(blocks, lattice, owners, thinnest_block(action.reach)), owners};
}

ActionBench::ActionBench(runtime::Session& session, const Coord& lattice, const ActionKind& action, const SettingValues& settings,
                         const Coord& blocks)
    : session_(session),
      kind_(action),
      blocks_(blocks),
      chosen_cut_(true),
      decomposition_(cut(session, lattice, action, blocks)),
      gauge_(heatbath::hot_start(lattice, 1, session.cpu_team())) {
  ActionRun run{.settings = benchmarked(kind_, settings)};
  mass_ = kind_.masses(run.settings).front();
  constexpr std::size_t first_mass[] = {0};
  if constexpr (!runtime::backend::computes) operator_ = kind_.with_any_links(std::move(gauge_), run);  // no values, so nothing to smear
  else operator_ = kind_.make_links(session, decomposition_, links_at_hand(gauge_), run)(first_mass);
  if (operator_.links) gauge_ = {};  // the action has its own
}

ActionBench::ActionBench(runtime::Session& session, const runtime::Decomposition& decomposition, const ActionKind& action,
                         const SettingValues& settings)
    : session_(session), kind_(action), chosen_cut_(false), decomposition_(decomposition) {
  const ActionRun run{.settings = benchmarked(kind_, settings)};
  mass_ = kind_.masses(run.settings).front();
  operator_ = kind_.with_any_links(heatbath::hot_start(decomposition.lattice(), 1, session.cpu_team()), run);
}

HostField ActionBench::wave(std::size_t step) const {
  HostField field = host_field(operator_.action->components(), decomposition_.lattice());
  if (field.data.empty()) return field;
  session_.cpu_team().for_range(static_cast<std::int64_t>(field.data.size()), [&](std::int64_t begin, std::int64_t end, int) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) field.data[i] = wavy_number(i * step);
  });
  return field;
}

PlannedLattice ActionBench::plan(const BenchCase& c) const {
  if (blocks_[0] > 0 || session_.gpu_count() == 0 || !chosen_cut_ || !cpus_may_own(session_.options())) return {decomposition_, {}};
  RunConfig solve;
  solve.action = &kind_;
  solve.solver = settings(kind_.bench_solvers.front(), c);
  solve.nrhs = c.vectors;
  solve.columns.assign(static_cast<std::size_t>(c.vectors), 0);  // so many that are solved together
  return plan_run(session_, decomposition_.lattice(), solve);
}

SolverSettings ActionBench::settings(const std::string& solver, const BenchCase& c) const {
  SolverSettings settings;
  settings.solver = solver;
  settings.precision = c.precision;
  settings.link_reals = kind_.link_reals.size() > 1 ? c.link_reals : kind_.link_reals.front();
  return settings;
}

TunedTiming ActionBench::time(const runtime::Decomposition& decomposition, const BenchCase& c, int repetitions,
                              const runtime::HardwareCounters* counters) const {
  const ActionRequest request{c.precision, settings("", c).link_reals, Schur::symmetric, {}, c.speed};
  const std::unique_ptr<PreparedAction> prepared = operator_.action->in_precision(decomposition, request);
  stencil::Stencil& stencil = prepared->stencil(c.vectors);
  const LatticePointer& lattice = prepared->lattice();
  const FullField field(lattice, operator_.action->components(), c.vectors);
  const std::vector<HostField> hosts(static_cast<std::size_t>(field.odd.site_vectors()), wave());
  transfer::load(field.odd, hosts);
  session_.wait_all();
  stencil::Output to_even = prepared->usual_output(c.vectors, 0), to_odd = prepared->usual_output(c.vectors, 1);
  for (stencil::Output* output : {&to_even, &to_odd})
    for (double& scale : output->scale) scale *= 0.1;
  // Alternating parities, as in a solve: one pair of applications reads every link once.
  const int owners = owner_count(decomposition);
  const PairTiming times = time_pairs(
      session_, owners, repetitions,
      [&] {
        stencil.apply(field.even, field.odd, to_even);
        stencil.apply(field.odd, field.even, to_odd);
      },
      counters);
  const double sites = static_cast<double>(lattice->sites_of_parity());
  const std::int64_t outer_sites = lattice->sites_of_parity() / lattice->lanes().lanes;
  const runtime::Cost cost = stencil.cost(outer_sites, to_even);
  const double written = field.even.site_vectors() * static_cast<double>(site_bytes(c.precision, field.even.reals()));
  TunedTiming tuned{dslash_timing(times,
                                  {.flops = cost.flops / sites,
                                   .bytes = cost.bytes / sites,
                                   .of_core = stencil.core_bytes(outer_sites, to_even) / sites,
                                   .written = written,
                                   .resident = 2 * (cost.bytes - sites * written)},
                                  sites, owners),
                    prepared->tile(), stencil.launch()};
  tuned.timing.lanes = lattice->lanes().lanes;
  return tuned;
}

SolverTiming ActionBench::time_solver(const std::string& name, const runtime::Decomposition& decomposition, const BenchCase& c, bool tune,
                                      int iterations, int repetitions, const ExtraSolves& extra) const {
  SolverSettings settings = this->settings(name, c);
  settings.tune = tune;
  settings.tolerance = 1e-14;  // not reached
  settings.max_iterations = iterations;
  const NamedKrylovSolver& krylov = *find_krylov_solver(name);
  Solver solver(decomposition, *operator_.action, settings, c.speed);
  solver.prepare(c.vectors);
  std::vector<HostField> sources;
  std::vector<double> masses;
  for (int v = 0; v < c.vectors; ++v) {
    // A solver that mixes right-hand sides leaves out those that depend on each other.
    sources.push_back(v == 0 || krylov.mixes_vectors ? wave(1 + static_cast<std::size_t>(v)) : sources.front());
    masses.push_back(krylov.shifted ? mass_ * (v + 1) : mass_);
  }
  SolverTiming timing, instrumented;  // what watching a solve costs is not in the first
  std::vector<double> times;
  const auto solve_once = [&](SolverTiming& of) {
    runtime::backend::take_rank_batches();
    std::vector<HostField> solutions(sources.size(), host_field(operator_.action->components(), decomposition_.lattice()));
    const std::vector<SolveResult> results = solver.solve(sources, masses, solutions);
    of.on_ranks = runtime::backend::take_rank_batches();
    of.iterations = results[0].iterations;
    of.refreshes = results[0].refreshes;
    double seconds = 0;
    of.flops = of.bytes = of.kernels = of.tasks = 0;
    double outside_us = 0, tasks = 0;
    for (const SolveResult& result : results) {
      seconds += result.seconds;
      of.flops += result.flops / of.iterations;
      of.bytes += result.bytes / of.iterations;
      of.kernels += static_cast<double>(result.kernels) / of.iterations;
      outside_us += result.seconds * 1e6 * owner_count(decomposition) - result.busy_us;
      tasks += result.tasks;
    }
    of.tasks = tasks / of.iterations;
    of.us_per_task = std::max(0.0, outside_us) / tasks;
    return seconds * 1e6 / of.iterations;
  };
  solve_once(timing);
  for (int r = 0; r < repetitions; ++r) times.push_back(solve_once(timing));
  std::sort(times.begin(), times.end());
  timing.best_us = times.front();
  timing.median_us = times[times.size() / 2];
  const auto watched = [&](const std::function<void()>& begins) {
    begins();
    solve_once(instrumented);
  };
  run_extra_solves(extra, timing, session_, watched, [&] { return instrumented.bytes * instrumented.iterations; });
  time_parts(timing, session_, decomposition, [&] { solve_once(instrumented); });
  return timing;
}

}  // namespace quarkstar::app
