#include "apps/bench/bench_staggered.hpp"

#include "apps/run/device_plan.hpp"
#include "apps/run/solve_plan.hpp"
#include "codelets/actions/staggered/colour_transfer.hpp"
#include "codelets/actions/staggered/dslash.hpp"
#include "codelets/gauge/heatbath/start.hpp"
#include "codelets/gauge/smear/coefficients.hpp"
#include "runtime/simulate/simulate.hpp"
#include "solvers/staggered_solver.hpp"

#include <algorithm>
#include <utility>

namespace quarkstar::app {
namespace {

/// A field of zeros; without data in simulations, where nobody reads it, as heatbath::hot_start().
HostColour host_field(const Coord& lattice) {
  if constexpr (!runtime::simulate::active) return HostColour(lattice);
  HostColour field;
  field.extents = lattice;
  return field;
}

}  // namespace

StaggeredBench::StaggeredBench(runtime::Session& session, const Coord& lattice, const std::string& action, const Coord& blocks)
    : session_(session),
      action_(action),
      blocks_(blocks),
      decomposition_(lattice, block_grid(blocks, lattice, session.block_owners(), thinnest_block(hops_far(action))),
                     session.block_owners()),
      links_(make_links(session, decomposition_, action)) {}

smear::StaggeredLinks StaggeredBench::make_links(runtime::Session& session, const runtime::Decomposition& decomposition,
                                                 const std::string& action) {
  HostGauge gauge = heatbath::hot_start(decomposition.lattice(), 1, session.cpu_team());
  if constexpr (runtime::simulate::active) {  // no values, so nothing to smear: only which links there are counts
    smear::StaggeredLinks links;
    links.has_long = action != "naive";
    if (links.has_long) {
      links.long_links = gauge;
      links.long_scale = smear::hisq_naik_weight(0);
    }
    links.fat = std::move(gauge);
    return links;
  }
  if (action == "naive") return smear::naive_links(decomposition, gauge, antiperiodic_in_time);
  if (action == "asqtad") return smear::asqtad_links(decomposition, gauge, antiperiodic_in_time, 1);
  return smear::hisq_links(decomposition, gauge, antiperiodic_in_time, 0);
}

StaggeredBench::StaggeredBench(runtime::Session& session, const runtime::Decomposition& decomposition, smear::StaggeredLinks links)
    : session_(session), decomposition_(decomposition), links_(std::move(links)) {}

HostColour StaggeredBench::wave(std::size_t step) const {
  HostColour field = host_field(decomposition_.lattice());
  for (std::size_t i = 0; i < field.data.size(); ++i) field.data[i] = wavy_number(i * step);
  return field;
}

PlannedLattice StaggeredBench::plan(Precision precision, int long_reals, int vectors) const {
  if (blocks_[0] > 0 || session_.gpu_count() == 0 || action_.empty() || !cpus_may_own(session_.options())) return {decomposition_, {}};
  RunConfig solve;
  solve.action = action_;
  solve.solver.solver = "cg";
  solve.solver.precision = precision;
  solve.solver.link_reals = long_reals;
  solve.staggered.nrhs = vectors;
  solve.columns.assign(static_cast<std::size_t>(vectors), 0);  // so many that are solved together
  return plan_staggered(session_, decomposition_.lattice(), solve);
}

SolverSettings StaggeredBench::settings(const std::string& solver, Precision precision, int long_reals) const {
  SolverSettings settings;
  settings.solver = solver;
  settings.precision = precision;
  settings.link_reals = links_.has_long ? long_reals : 18;
  return settings;
}

staggered::TuningProblem StaggeredBench::problem(const runtime::Decomposition& decomposition, Precision precision, int long_reals,
                                                 int vectors) const {
  return {decomposition, precision, links_.has_long ? long_reals : 0, vectors};
}

DslashTiming StaggeredBench::time(const staggered::TuningProblem& problem, const Coord& tile, const staggered::Launch& launch,
                                  int repetitions, const runtime::HardwareCounters* counters, std::optional<int> most_lanes) const {
  const int vectors = problem.vectors;
  const auto lattice = std::make_shared<Lattice>(problem.decomposition, problem.precision, periodic, most_lanes, links_.reach(), tile,
                                                 Coord{2, 2, 2, 2}, problem.vectors_in_lanes);
  const staggered::Links even(lattice, 0, links_, problem.long_reals), odd(lattice, 1, links_, problem.long_reals);
  staggered::Dslash dslash(even, odd, vectors);
  dslash.set_launch(launch);
  const staggered::ColourField on_even(lattice, 0, vectors), on_odd(lattice, 1, vectors);
  const std::vector<HostColour> waves(static_cast<std::size_t>(vectors), wave());
  staggered::load_vectors(on_odd, waves);
  session_.wait_all();
  const int owners = owner_count(problem.decomposition);
  const PairTiming times = time_pairs(
      session_, owners, repetitions,
      [&] {
        dslash.apply(on_even, on_odd, {.scale = staggered::same_for_all(0.1)});
        dslash.apply(on_odd, on_even, {.scale = staggered::same_for_all(0.1)});
      },
      counters);
  const double sites = static_cast<double>(lattice->sites_of_parity());
  const runtime::Cost cost = dslash.cost(lattice->sites_of_parity() / lattice->lanes().lanes, {});
  const double written = vectors * static_cast<double>(site_bytes(problem.precision, staggered::ColourField::reals));
  DslashTiming timing =
      dslash_timing(times, {cost.flops / sites, cost.bytes / sites, written, 2 * (cost.bytes - sites * written)}, sites, owners);
  timing.lanes = lattice->lanes().lanes;
  return timing;
}

SolverTiming StaggeredBench::time_solver(const std::string& name, const staggered::TuningProblem& problem, const StaggeredSpeed& speed,
                                         bool tune, double mass, int iterations, int repetitions, const ExtraSolves& extra) const {
  SolverSettings settings = this->settings(name, problem.precision, problem.long_reals);
  settings.tune = tune;
  settings.tolerance = 1e-14;  // not reached
  settings.max_iterations = iterations;
  StaggeredSolver solver(problem.decomposition, links_, settings, speed);
  solver.prepare(problem.vectors);
  std::vector<HostColour> sources;
  std::vector<double> masses;
  for (int v = 0; v < problem.vectors; ++v) {
    sources.push_back(wave(name == "blockcg" ? 1 + static_cast<std::size_t>(v) : 1));  // it leaves out sources that depend on each other
    masses.push_back(name == "multishift" ? mass * (v + 1) : mass);
  }
  SolverTiming timing, instrumented;  // what watching a solve costs is not in the first
  std::vector<double> times;
  const auto solve_once = [&](SolverTiming& of) {
    std::vector<HostColour> solutions(sources.size(), host_field(decomposition_.lattice()));
    const std::vector<SolveResult> results = solver.solve(sources, masses, solutions);
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
      outside_us += result.seconds * 1e6 * owner_count(problem.decomposition) - result.busy_us;
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
  time_parts(timing, session_, problem.decomposition, [&] { solve_once(instrumented); });
  return timing;
}

}  // namespace quarkstar::app
