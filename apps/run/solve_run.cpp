#include "apps/run/solve_run.hpp"

#include "apps/run/eigen_file.hpp"
#include "apps/run/islands.hpp"
#include "apps/run/job_energy.hpp"
#include "apps/run/measure_power.hpp"
#include "apps/run/operator_solves.hpp"
#include "apps/run/run_state.hpp"
#include "apps/run/solve_plan.hpp"
#include "apps/run/turns_on_ranks.hpp"
#include "codelets/contract/three_point.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/observe/decisions.hpp"
#include "runtime/system/clock.hpp"
#include "runtime/system/error.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <utility>

namespace quarkstar::app {
namespace {

/// The order in which a source's solves are reported, whichever ends first.
std::vector<SolveKey> order_of_solves(const RunConfig& config, const std::vector<double>& masses) {
  std::vector<SolveKey> order;
  for (const auto& of_operator : operators_of(config))
    for (const auto& group : groups_of(config, of_operator))
      for (const RightHandSide& side : group)
        order.push_back({side.column, config.action->names_masses ? std::optional(masses[side.mass]) : std::nullopt});
  return order;
}

/// Islands take groups from one pool, each in_flight at a time.
void solve_on_islands(RunState& run, OperatorSolves& solves) {
  const auto islands = static_cast<int>(run.islands.size());
  GroupPool pool(islands, solves.groups());
  for (const runtime::Decomposition& island : run.islands) {
    run.of_islands.emplace_back();
    for (const int worker : owners_of(island)) run.of_islands.back().devices.push_back(run.session.worker(worker).name);
  }
  runtime::Turns::run(
      run.groups_at_once(), run.groups_at_once(),
      [&](int lane) {
        const int island = lane % islands;
        while (!runtime::Turns::failed()) {
          const std::optional<int> group = pool.take(island);
          if (!group) return;
          const double begin = runtime::now_us();
          solves.solve(*group, static_cast<std::size_t>(island));
          pool.ended(island, 1e-6 * (runtime::now_us() - begin) / run.config.solver.in_flight);
        }
      },
      runtime::Turns::Order::as_they_come);
}

/// Where every mass has an operator of its own, operators are in flight together, and their links are made while others are solved for;
/// else groups of the one operator.
void solve_all(RunState& run, const MakeOperator& make) {
  const std::vector<std::vector<std::size_t>>& operators = run.operators;
  std::optional<SharedAccount> account;
  const auto begin = [&] {
    if (run.together() && !run.gives_sources_as_they_complete()) account.emplace(run.session, run.islands);
  };
  const auto end = [&] {
    if (run.left_out) throw Interrupted{run.config.checkpoint};
    if (account) account->share(run.first_report());
  };
  if (operators.size() == 1) {
    OperatorSolves solves(run, make, operators.front());
    begin();
    if (run.islands.size() > 1) solve_on_islands(run, solves);
    else run_on_ranks(solves.groups(), run.config.solver.in_flight, [&](int group) { solves.solve(group, 0); });
    end();
    return solves.leave_solver();
  }
  begin();
  run_on_ranks(static_cast<int>(operators.size()), run.config.solver.in_flight, [&](int number) {
    stop_all_if_interrupted(run.watch, run.config.checkpoint);  // before links are made
    OperatorSolves solves(run, make, operators[static_cast<std::size_t>(number)]);
    for (int group = 0; group < solves.groups(); ++group) solves.solve(group, 0);
  });
  end();
}

/// The settings of a run, from those of its sources.
RunConfig config_of(std::span<const SourceRun> sources) {
  RunConfig config = sources.front().report.config;
  config.further_sources.clear();
  if (sources.size() > 1) config.checkpoint = std::filesystem::path(config.checkpoint).parent_path().string();  // each has a folder in it
  for (const SourceRun& source : sources.subspan(1)) config.further_sources.push_back(source.report.config.source);
  return config;
}

/// solve_sources(), whose set-up has begun.
void solve_planned(runtime::Session& session, const PlannedSolve& planned, const LinksOfPart& links, KeptBetweenSolves& kept,
                   std::span<SourceRun> sources, RunWatch& watch, SetupTimes setup) {
  RunConfig config = config_of(sources);
  config.nrhs = planned.nrhs;
  set_modes_memory(config, planned.modes_memory);
  const ActionKind& kind = *config.action;
  const runtime::Decomposition& decomposition = planned.where.decomposition;
  for (const SourceRun& source : sources) tell(session, planned, source.report);
  let_cpus_join(session, planned);
  kept.solver.begin(KeptSolver::key_of(config, planned.islands));
  ActionRun action = action_run(sources.front().report);
  const MakeOperator make = kept.links(kind, session, decomposition, links, action);
  const bool needs_links = !config.smearings().empty() || contract::has_conserved(three_point_currents(config));
  const HostGauge* const gauge = needs_links ? &links(decomposition, action.gauge) : nullptr;
  setup.ended("links");
  take(config, action);  // what files of links say
  for (const SourceRun& source : sources) {
    take(source.report.config, action);
    source.report.gauge = action.gauge;
  }
  const std::vector<double> masses = config.masses();
  const std::vector<std::vector<std::size_t>> operators = operators_of(config);
  const int total = static_cast<int>(config.columns.size() * masses.size() * sources.size());
  RunState run{.session = session,
               .config = config,
               .kind = kind,
               .masses = masses,
               .operators = operators,
               .order = order_of_solves(config, masses),
               .islands = planned.islands,
               .gauge = gauge,
               .smearers = {},
               .adaptive = AdaptiveCut(session, decomposition.lattice(), thinnest_block(kind.reach), planned.memory,
                                       whole_units(config.solver, decomposition.lattice())),
               .profile = {},
               .sources = {},
               .total = total,
               .kept = kept,
               .watch = watch,
               .save_requests = SaveRequests(watch),
               .bar = watch.progress(masses.size() > 1 ? "right-hand side" : "column", total),
               .setup = std::move(setup)};
  Propagators unsolved;
  for (const double mass : masses) unsolved.push_back({mass, {}, std::vector<HostField>(config.columns.size())});
  for (SourceRun& source : sources) {
    run.sources.push_back({source, unsolved, config.columns.size() * masses.size(), SourceCorrelators(source.report.config)});
    if (const std::string& folder = source.report.config.checkpoint; !folder.empty())
      run.sources.back().checkpoint.emplace(folder, decomposition.lattice(), decomposition.part(),
                                            config.redundant ? Checkpoint::Access::redundant : Checkpoint::Access::write);
  }
  run.make_smearers();
  session.wait_all();
  session.events().reset();
  solve_all(run, make);
  if (!run.gives_sources_as_they_complete()) run.conclude(run.sources.front(), 0);
  write_trace(session, config);
}

}  // namespace

void solve_sources(runtime::Session& session, const PlannedSolve& planned, const LinksOfPart& links, KeptBetweenSolves& kept,
                   std::span<SourceRun> sources, RunWatch& watch) {
  solve_planned(session, planned, links, kept, sources, watch, {});
}

void solve_sources(const LinksOfPart& links, const Coord& lattice, std::span<SourceRun> sources, RunWatch& watch,
                   const std::function<void(const RunReport&)>& planned, const std::function<void()>& read_beside) {
  SetupTimes setup;
  const RunConfig config = config_of(sources);
  const runtime::SessionOptions options = session_options(config, lattice);  // measures what it does not know, so nothing else runs
  if (read_beside && !runtime::cpu_share_is_open(options)) read_beside();
  std::optional<runtime::Decisions> decisions;
  if (!config.decisions.empty()) decisions.emplace();
  runtime::Session session(options);
  setup.ended("runtime");
  provide_power(session);
  const PlannedSolve plan = plan_solve(session, config, lattice);
  RunReport& report = sources.front().report;
  tell(session, plan, report);
  if (planned) planned(report);
  runtime::mpi::Job::current().together([&] { require_memory(report.memory); });
  setup.ended("plan");
  KeptBetweenSolves kept(session);
  solve_planned(session, plan, links, kept, sources, watch, std::move(setup));
  if (!decisions) return;
  session.wait_all();
  runtime::mpi::Job::current().together([&] { decisions->write(session, file_of_rank(config.decisions)); });
}

Propagators solve_source(const LinksOfPart& links, const Coord& lattice, RunReport& report, RunWatch& watch,
                         const std::function<void(const RunReport&)>& planned) {
  Propagators result;
  SourceRun source{report, [&result](Propagators propagators, const SolvedOn&) { result = std::move(propagators); }};
  solve_sources(links, lattice, {&source, 1}, watch, planned);
  return result;
}

}  // namespace quarkstar::app
