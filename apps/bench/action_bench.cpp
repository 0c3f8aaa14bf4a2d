#include "apps/bench/action_bench.hpp"

#include "apps/run/solve_plan.hpp"
#include "codelets/actions/staggered/action.hpp"
#include "codelets/actions/wilson/action.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/gauge/heatbath/start.hpp"
#include "codelets/gauge/smear/coefficients.hpp"
#include "runtime/simulate/simulate.hpp"
#include "solvers/solver.hpp"

#include <algorithm>
#include <utility>

namespace quarkstar::app {
namespace {

/// A field of zeros; without data in simulations, where nobody reads it, as heatbath::hot_start().
HostField host_field(int components, const Coord& lattice) {
  if constexpr (!runtime::simulate::active) return HostField(components, lattice);
  HostField field;
  field.components = components;
  field.extents = lattice;
  return field;
}

/// Links of SU(3), times the weight where they are long ones.
smear::StaggeredLinks links_of_any_value(HostGauge gauge, bool has_long) {
  smear::StaggeredLinks links;
  links.has_long = has_long;
  if (has_long) {
    links.long_links = gauge;
    links.long_scale = smear::hisq_naik_weight(0);
    for (double& real : links.long_links.data) real *= links.long_scale;
  }
  links.fat = std::move(gauge);
  return links;
}

}  // namespace

ActionBench::ActionBench(runtime::Session& session, const Coord& lattice, const std::string& action, const Coord& blocks)
    : session_(session),
      name_(action),
      blocks_(blocks),
      chosen_cut_(true),
      decomposition_(lattice, block_grid(blocks, lattice, session.block_owners(), thinnest_block(hops_far(action))),
                     session.block_owners()),
      gauge_(heatbath::hot_start(lattice, 1, session.cpu_team())) {
  if (name_ != "wilson") {
    if constexpr (runtime::simulate::active) links_ = links_of_any_value(gauge_, hops_far(name_));  // no values, so nothing to smear
    else if (name_ == "naive") links_ = smear::naive_links(decomposition_, gauge_, antiperiodic_in_time);
    else if (name_ == "asqtad") links_ = smear::asqtad_links(decomposition_, gauge_, antiperiodic_in_time, 1);
    else links_ = smear::hisq_links(decomposition_, gauge_, antiperiodic_in_time, 0);
  }
  make_action();
}

ActionBench::ActionBench(runtime::Session& session, const runtime::Decomposition& decomposition, const std::string& action)
    : session_(session),
      name_(action),
      chosen_cut_(false),
      decomposition_(decomposition),
      gauge_(heatbath::hot_start(decomposition.lattice(), 1, session.cpu_team())) {
  if (name_ != "wilson") links_ = links_of_any_value(gauge_, hops_far(name_));
  make_action();
}

void ActionBench::make_action() {
  if (name_ == "wilson") {
    action_ = std::make_unique<wilson::Action>(gauge_, WilsonParameters{});
    return;
  }
  gauge_ = {};
  action_ = std::make_unique<staggered::Action>(links_);
}

HostField ActionBench::wave(std::size_t step) const {
  HostField field = host_field(action_->components(), decomposition_.lattice());
  for (std::size_t i = 0; i < field.data.size(); ++i) field.data[i] = wavy_number(i * step);
  return field;
}

PlannedLattice ActionBench::plan(const BenchCase& c) const {
  if (blocks_[0] > 0 || session_.gpu_count() == 0 || !chosen_cut_ || !cpus_may_own(session_.options())) return {decomposition_, {}};
  RunConfig solve;
  solve.action = name_;
  solve.solver = settings(action_->is_hermitian() ? "cg" : "bicgstab", c);
  solve.nrhs = c.vectors;
  solve.columns.assign(static_cast<std::size_t>(c.vectors), 0);  // so many that are solved together
  return plan_run(session_, decomposition_.lattice(), solve);
}

SolverSettings ActionBench::settings(const std::string& solver, const BenchCase& c) const {
  SolverSettings settings;
  settings.solver = solver;
  settings.precision = c.precision;
  settings.link_reals = name_ == "naive" ? 18 : c.link_reals;
  return settings;
}

TunedTiming ActionBench::time(const runtime::Decomposition& decomposition, const BenchCase& c, int repetitions,
                              const runtime::HardwareCounters* counters) const {
  const LevelRequest request{c.precision, settings("", c).link_reals, Schur::asymmetric, {}, c.speed};
  const std::unique_ptr<Level> level = action_->level(decomposition, request);
  stencil::Stencil& stencil = level->stencil(c.vectors);
  const LatticePointer& lattice = level->lattice();
  const FullField field(lattice, action_->components(), c.vectors);
  transfer::load(field.odd, std::vector<HostField>(static_cast<std::size_t>(c.vectors), wave()));
  session_.wait_all();
  // Alternating parities, as in a solve: one pair of applications reads every link once.
  const int owners = owner_count(decomposition);
  const PairTiming times = time_pairs(
      session_, owners, repetitions,
      [&] {
        stencil.apply(field.even, field.odd, {.scale = same_for_all(0.1)});
        stencil.apply(field.odd, field.even, {.scale = same_for_all(0.1)});
      },
      counters);
  const double sites = static_cast<double>(lattice->sites_of_parity());
  const runtime::Cost cost = stencil.cost(lattice->sites_of_parity() / lattice->lanes().lanes, {});
  const double written = c.vectors * static_cast<double>(site_bytes(c.precision, field.even.reals()));
  TunedTiming tuned{
      dslash_timing(times, {cost.flops / sites, cost.bytes / sites, written, 2 * (cost.bytes - sites * written)}, sites, owners),
      level->tile(), stencil.launch()};
  tuned.timing.lanes = lattice->lanes().lanes;
  return tuned;
}

SolverTiming ActionBench::time_solver(const std::string& name, const runtime::Decomposition& decomposition, const BenchCase& c, bool tune,
                                      double mass, int iterations, int repetitions, const ExtraSolves& extra) const {
  SolverSettings settings = this->settings(name, c);
  settings.tune = tune;
  settings.tolerance = 1e-14;  // not reached
  settings.max_iterations = iterations;
  Solver solver(decomposition, *action_, settings, c.speed);
  solver.prepare(c.vectors);
  std::vector<HostField> sources;
  std::vector<double> masses;
  for (int v = 0; v < c.vectors; ++v) {
    sources.push_back(wave(name == "blockcg" ? 1 + static_cast<std::size_t>(v) : 1));  // it leaves out sources that depend on each other
    masses.push_back(name == "multishift" ? mass * (v + 1) : mass);
  }
  SolverTiming timing, instrumented;  // what watching a solve costs is not in the first
  std::vector<double> times;
  const auto solve_once = [&](SolverTiming& of) {
    std::vector<HostField> solutions(sources.size(), host_field(action_->components(), decomposition_.lattice()));
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
