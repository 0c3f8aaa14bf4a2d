#include "apps/run/operator_solves.hpp"

#include "apps/run/eigen_file.hpp"
#include "apps/run/group_files.hpp"
#include "apps/run/null_vector_files.hpp"
#include "apps/run/sequential_run.hpp"
#include "apps/run/solve_plan.hpp"
#include "codelets/field/source_field.hpp"
#include "runtime/graph/graph_failure.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/observe/task_graph.hpp"
#include "solvers/eigen/low_mode_average.hpp"
#include "solvers/solver_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <utility>

namespace quarkstar::app {
namespace {

using Clock = std::chrono::steady_clock;

/// Whether any rank has a number other than zero: a Krylov space of several masses that was interrupted leaves the guess.
bool has_begun(const HostField& solution) {
  const bool mine = std::any_of(solution.data.begin(), solution.data.end(), [](const std::complex<double>& z) { return z != 0.0; });
  return runtime::mpi::Job::current().any(mine);
}

/// How far a solve has come: ln(residual) / ln(tolerance), cut to 0..1.
double residual_fraction(double residual, double tolerance) {
  if (!(residual > 0) || !(tolerance < 1)) return 0;
  return std::clamp(std::log(residual) / std::log(tolerance), 0.0, 1.0);
}

/// Iterations of right-hand sides that were solved together: "120", "118 to 121".
std::string iterations_text(const std::vector<SolveResult>& results) {
  const auto fewer = [](const SolveResult& a, const SolveResult& b) { return a.iterations < b.iterations; };
  const auto [least, most] = std::minmax_element(results.begin(), results.end(), fewer);
  return least->iterations == most->iterations ? fmt::format("{}", most->iterations)
                                               : fmt::format("{} to {}", least->iterations, most->iterations);
}

}  // namespace

OperatorSolves::OperatorSolves(RunState& run, const MakeOperator& make, std::span<const std::size_t> masses)
    : run_(run),
      among_others_(run.together() || runtime::Turns::taken()),
      operator_(make(masses)),
      mass_(run.masses[masses.front()]),
      masses_(masses.begin(), masses.end()),
      groups_(groups_of(run.config, masses)),
      solvers_(run.islands.size()) {
  for (const auto& group : groups_) numbers_.push_back(static_cast<int>(group.size()));
  for (const auto& group : sequential_groups(run.config)) numbers_.push_back(static_cast<int>(group.size()));
  for (SourceState& source : run.sources)
    for (const std::size_t mass : masses) source.propagators[mass].numbers = operator_.numbers;
  held_ = run.kept.solver.take(values_of(masses_));
  if (!held_.solvers.empty()) solvers_ = std::exchange(held_.solvers, {});
  for (std::size_t island = 0; island < solvers_.size(); ++island) {
    if (solvers_[island]) continue;
    const auto modes = make_solver(island);
    if (island == 0 && run.config.low_mode_average) add_low_modes(*solvers_[island], *modes);
  }
  if (solvers_.size() > 1) run.session.wait_all();
  if (const auto numbers = solvers_.front()->numbers(); !numbers.empty())
    for (SourceState& source : run.sources)
      source.run.report.operators.push_back({telling_mass(), numbers, solvers_.front()->multigrid_levels(), begun_with_});
  run.set_up();
  if (!run.together() || runtime::Turns::taken()) return;
  for (const std::unique_ptr<Solver>& solver : solvers_)
    for (const int number : numbers_) solver->prepare(number);  // measures while nothing else runs
  run.forget_events();
}

void OperatorSolves::leave_solver() {
  run_.kept.solver.keep({std::move(held_.operation.action ? held_.operation : operator_), std::move(solvers_)});
}

double OperatorSolves::solve(int number, std::size_t island) {
  stop_all_if_interrupted(run_.watch, run_.config.checkpoint);  // between two groups, or while it all was set up
  const std::vector<RightHandSide>& group = groups_[static_cast<std::size_t>(number)];
  if (!run_.begins(group)) return 0;
  if (!among_others_) {
    solvers_[island]->prepare(static_cast<int>(group.size()));
    run_.forget_events();
    run_.adaptive.begins();
  }
  const double seconds = solve_group(group, island);
  if (among_others_) return seconds;
  run_.session.wait_all();
  run_.forget_events();
  const int together = static_cast<int>(group.size()), remaining = run_.total - run_.done;
  if (const auto better = run_.adaptive.proposes(run_.islands[island], seconds, together, remaining, making_seconds_)) {
    run_.islands[island] = *better;
    run_.make_smearers();
    if (number + 1 < groups()) make_solver(island);
  }
  return seconds;
}

std::vector<double> OperatorSolves::values_of(std::span<const std::size_t> masses) const {
  std::vector<double> values;
  for (const std::size_t mass : masses) values.push_back(run_.masses[mass]);
  return values;
}

std::shared_ptr<const EigenProjector> OperatorSolves::make_solver(std::size_t island) {
  const auto begin = Clock::now();
  SolverSettings settings = run_.config.solver;
  settings.keep_history = true;  // the report plots it
  if (!run_.config.multigrid_setup.empty())
    settings.multigrid->files =
        null_vector_files(run_.config, run_.islands[island], {operator_.equation, mass_, telling_mass().has_value()},
                          [this](const std::string& where) { begun_with_ = where; });
  if (settings.multigrid)
    settings.multigrid->progress = [this](int done, int cycles) {
      stop_all_if_interrupted(run_.watch, run_.done > 0 ? run_.config.checkpoint : "");
      run_.bar->update(run_.done, 0, fmt::format("multigrid's set-up, {} of {} cycles", done, cycles));
    };
  const std::string modes = deflation_file(run_.config);
  const bool deflates = !modes.empty();  // projectors have lanes of sites
  const Speed speed{.vectors = *std::max_element(numbers_.begin(), numbers_.end()),
                    .vectors_in_lanes = deflates ? 1
                                                 : vectors_in_lanes_for(run_.islands[island], run_.kind.components,
                                                                        run_.kind.slices(run_.config.settings), settings, numbers_)};
  solvers_[island].reset();
  solvers_[island] = std::make_unique<Solver>(run_.islands[island], *operator_.action, settings, speed);
  if (!runtime::Turns::taken() && run_.islands.size() == 1) run_.session.wait_all();  // else links go to all islands together
  std::shared_ptr<const EigenProjector> projector;
  if (deflates) {
    run_.session.wait_all();  // files are for times without messages
    const EigenProblem problem = eigen_problem(run_.kind, operator_, mass_, settings.schur);
    projector = load_projector(modes, problem.text, solvers_[island]->lattice(), modes_memory(run_.config));
    solvers_[island]->set_projector(projector, problem.mass);
  }
  making_seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();
  return projector;
}

void OperatorSolves::add_low_modes(Solver& solver, const EigenProjector& modes) {
  const std::vector<double> masses = values_of(masses_);
  const std::vector<LowModeMesons> of_masses = low_mode_mesons(solver, modes, masses, run_.config.all_sources(), [this](double done) {
    stop_all_if_interrupted(run_.watch, run_.config.checkpoint);
    run_.bar->update(run_.done, 0, fmt::format("low-mode averages, {:.0f} %", 100 * done));
    run_.forget_events();
  });
  for (std::size_t m = 0; m < masses_.size(); ++m)
    for (std::size_t s = 0; s < run_.sources.size(); ++s)
      run_.sources[s].correlators.add_low_modes(masses_[m], low_mode_gain(of_masses[m], s));
}

double OperatorSolves::solve_group(const std::vector<RightHandSide>& group, std::size_t island) {
  const RunConfig& config = run_.config;
  runtime::Session& session = run_.session;
  const std::size_t n = group.size();
  const auto begin = Clock::now();
  const runtime::Decomposition& decomposition = run_.islands[island];
  const Box part = decomposition.part();
  std::vector<HostField> solutions;
  if (comes_to_host(config, group)) solutions.assign(n, HostField(run_.kind.components, part));
  std::vector<SourceColumn> sources;
  std::vector<double> masses;
  for (const RightHandSide& side : group) {
    sources.push_back({run_.sources[side.source].run.report.config.source, side.column});
    masses.push_back(run_.masses[side.mass]);
  }
  const runtime::Settled settled;
  const QuarkSmearers* const smearers = run_.smearers[island].get();
  const SourceColumns right_hand_sides(decomposition, std::move(sources), smearers);
  const bool has_files = !config.checkpoint.empty(), quiet_files = has_files && runtime::mpi::Job::current().is_distributed();
  if (quiet_files) session.wait_all();  // files are for times without messages
  GroupFiles files(run_, operator_.equation, group);
  std::vector<HostField> on_slices;  // of a fifth dimension, from which a solve can go on
  if (const int slices = run_.kind.slices(config.settings); has_files && slices > 1)
    on_slices.assign(n * static_cast<std::size_t>(slices), HostField(run_.kind.components, part));
  const std::span<HostField> kept = on_slices.empty() ? std::span(solutions) : std::span(on_slices);
  const std::optional<SolveState> state = files.load(kept);
  const runtime::Energy before = among_others_ ? runtime::Energy{} : run_.kept.meter.read();
  std::optional<BoundMeter> bound_meter;
  if (config.bound) bound_meter.emplace(session);
  const bool writes_graph = !config.graph.empty() && run_.done == 0;
  std::optional<runtime::GraphRecording> recording;
  if (writes_graph && !bound_meter) recording.emplace();
  LatticePointer lattice;  // of the solutions on the graph
  std::optional<WhileSolving> solving(std::in_place, run_.watch);
  const std::vector<SolveResult> results =
      solvers_[island]->solve([&right_hand_sides](const Field& field) { right_hand_sides.submit(field); }, masses, solutions,
                              [&](int iterations, double residual) {
                                run_.bar->update(run_.done, residual_fraction(residual, config.solver.tolerance),
                                                 fmt::format("iteration {}  |r|/|b| {:.2e}", iterations, residual));
                                return !run_.watch.interrupted() && !runtime::Turns::failed();
                              },
                              files.snapshots(),
                              [&](const FullField& on_graph, std::span<const SolveResult> of_vectors) {
                                lattice = on_graph.even.lattice();
                                for (std::size_t s = 0; s < run_.sources.size(); ++s)
                                  run_.sources[s].correlators.contract(s, group, on_graph, of_vectors, smearers);
                              },
                              {.resume = state ? &*state : nullptr, .slices = on_slices});
  solving.reset();
  const auto any = [&results](auto&& is) { return std::any_of(results.begin(), results.end(), is); };
  const bool stopped = interrupted_anywhere(run_.watch) || any([](const SolveResult& r) { return r.reason == StopReason::interrupted; });
  // Another's failure is what comes out of this run.
  const bool given_up = runtime::Turns::failed() && any([](const SolveResult& r) { return !r.converged(); });
  if (quiet_files || !among_others_) session.wait_all();
  if (!among_others_) run_.adaptive.ends();  // sequential solves are not its solves
  if (writes_graph) {
    runtime::mpi::Job::current().together(
        [&] { runtime::write_task_graph(bound_meter ? bound_meter->graph() : recording->graph(), file_of_rank(config.graph)); });
    recording.reset();
  }
  double seconds = 0, bytes = 0, flops = 0;
  for (const SolveResult& result : results) {
    seconds += result.seconds;
    bytes += result.bytes;
    flops += result.flops;
  }
  if (!given_up) report(group, results, before, bound_meter, seconds, bytes);
  for (std::size_t v = 0; has_files && v < n; ++v)
    if (results[v].converged() || (worth_saving(results[v]) && has_begun(solutions[v]))) files.save(v, kept, results[v].iterations);
  if (!stopped && !given_up) files.end(results);
  if (given_up) throw Interrupted{config.checkpoint};
  double worst = 0;
  for (const SolveResult& result : results) worst = std::max(worst, result.true_residual);
  if (!stopped)
    run_.bar->step_done(run_.done, fmt::format("{} iterations, true residual {:.2e}, {:.3f} s, {:.2f} GFLOP/s", iterations_text(results),
                                               worst, seconds, seconds > 0 ? flops / seconds * 1e-9 : 0));
  // Counted before use() and behind it, so that a source that is complete tells of its group.
  IslandReport no_islands;
  IslandReport& told = run_.of_islands.empty() ? no_islands : run_.of_islands[island];
  const auto solved = Clock::now();
  ++told.groups;
  told.seconds += std::chrono::duration<double>(solved - begin).count();
  use(group, island, results, std::move(solutions), lattice, stopped);
  told.seconds += std::chrono::duration<double>(Clock::now() - solved).count();
  return seconds;
}

void OperatorSolves::use(const std::vector<RightHandSide>& group, std::size_t island, const std::vector<SolveResult>& results,
                         std::vector<HostField> solutions, const LatticePointer& lattice, bool stopped) {
  const std::vector<int>& columns = run_.config.columns;
  const QuarkSmearers* const smearers = run_.smearers[island].get();
  for (std::size_t v = 0; v < solutions.size(); ++v) {
    if (!results[v].converged()) continue;
    const auto place = std::find(columns.begin(), columns.end(), group[v].column) - columns.begin();
    run_.sources[group[v].source].propagators[group[v].mass].columns[static_cast<std::size_t>(place)] = std::move(solutions[v]);
  }
  std::vector<SourceState*> complete;
  std::optional<std::string> no_three_points;  // why; nothing: the run is to end
  for (std::size_t v = 0; v < group.size(); ++v) {
    if (!results[v].converged()) continue;
    SourceState& source = run_.sources[group[v].source];
    source.correlators.contract_rest(group[v].mass, lattice, source.propagators[group[v].mass].columns, smearers);
    if (lacks_three_points(group[v])) {
      if (stopped || no_three_points) continue;
      no_three_points = add_three_points(group[v], island);
      if (no_three_points) continue;
    }
    if (--source.remaining > 0) continue;
    source.correlators.contract_pairs(lattice, source.propagators, smearers);
    complete.push_back(&source);
  }
  if (run_.gives_sources_as_they_complete())
    for (SourceState* source : complete) run_.conclude(*source, island, source != complete.back());  // while others are on the graph
  if (stopped || (no_three_points && no_three_points->empty())) throw Interrupted{run_.config.checkpoint};
  run_.require_convergence(group, results);
  if (no_three_points) run_.end_with_failure(*no_three_points);
}

bool OperatorSolves::lacks_three_points(const RightHandSide& side) const {
  const SourceState& source = run_.sources[side.source];
  const std::vector<HostField>& columns = source.propagators[side.mass].columns;
  return !run_.config.three_points.hadrons.empty() && !source.with_three_points.contains(side.mass) &&
         std::none_of(columns.begin(), columns.end(), [](const HostField& column) { return column.data.empty(); });
}

std::optional<std::string> OperatorSolves::add_three_points(const RightHandSide& side, std::size_t island) {
  const RunConfig& config = run_.config;
  SourceState& source = run_.sources[side.source];
  RunReport& report = source.run.report;
  source.with_three_points.insert(side.mass);  // before the solves, between which other groups have their turns
  const std::optional<contract::HopLinks> links = hop_links(config, run_.gauge);
  const SequentialRun run{.config = config,
                          .decomposition = run_.islands[island],
                          .solver = *solvers_[island],
                          .links = links ? &*links : nullptr,
                          .smearers = run_.smearers[island].get(),
                          .meter = among_others_ ? nullptr : &run_.kept.meter,
                          .progress =
                              [&](int iterations, double residual) {
                                run_.bar->update(run_.done, residual_fraction(residual, config.solver.tolerance),
                                                 fmt::format("sequential, iteration {}  |r|/|b| {:.2e}", iterations, residual));
                                return !run_.watch.interrupted() && !runtime::Turns::failed();
                              },
                          .ends = [&] { return interrupted_anywhere(run_.watch); }};
  const WhileSolving solving(run_.watch);
  ThreePoints got = three_points_of(run, source.propagators[side.mass].columns, run_.masses[side.mass], report.config.source);
  for (SequentialReport& sequential : got.solves) {
    sequential.solve.mass = run_.named_mass(side.mass);
    report.sequential.push_back(std::move(sequential));
  }
  if (got.complete) {
    for (std::size_t sink = 0; sink < got.of_sinks.size(); ++sink)
      source.correlators.add_three_points(side.mass, sink, std::move(got.of_sinks[sink]));
    return {};
  }
  const SequentialReport& last = report.sequential.back();
  const SolveResult& result = last.solve.result;
  if (result.converged() || result.reason == StopReason::interrupted || runtime::Turns::failed()) return "";
  report.failure =
      fmt::format("sequential source {}, {}", last.hadron, run_.failure_of({side.source, last.solve.column, side.mass}, result));
  run_.tell_workers(report);
  return (run_.sources.size() > 1 ? fmt::format("source {}, ", text_of(report.config.source)) : "") + report.failure;
}

void OperatorSolves::report(const std::vector<RightHandSide>& group, const std::vector<SolveResult>& results, const runtime::Energy& before,
                            std::optional<BoundMeter>& bound_meter, double seconds, double bytes) {
  runtime::Energy energy{{0, "not measured"}, {0, "not measured"}};
  std::optional<double> idle_us;
  std::optional<BoundReport> bound;
  if (!among_others_) {
    energy = run_.kept.meter.since(before, group.size());
    idle_us = idle_us_a_task(run_.islands, results);
    if (bound_meter) bound = bound_meter->ended(seconds, bytes);
    bound_meter.reset();
  }
  const bool first = run_.done == 0;
  for (std::size_t v = 0; v < group.size(); ++v) {
    RunReport& of_source = run_.sources[group[v].source].run.report;
    // The one that failed stays the last.
    of_source.solves.insert(of_source.solves.end() - (of_source.failure.empty() ? 0 : 1), {.column = group[v].column,
                                                                                           .result = results[v],
                                                                                           .energy = energy,
                                                                                           .mass = run_.named_mass(group[v].mass),
                                                                                           .idle_us = idle_us,
                                                                                           .bound = bound});
    ++run_.done;
  }
  if (first) run_.keep_timeline(among_others_);
}

}  // namespace quarkstar::app
