#include "apps/run/staggered_run.hpp"

#include "apps/command/interrupt.hpp"
#include "apps/command/progress.hpp"
#include "apps/report/timeline.hpp"
#include "apps/run/adaptive_cut.hpp"
#include "apps/run/checkpoint.hpp"
#include "apps/run/job_energy.hpp"
#include "apps/run/links_input.hpp"
#include "apps/run/measure_power.hpp"
#include "apps/run/shared_account.hpp"
#include "apps/run/solve_bound.hpp"
#include "apps/run/solve_plan.hpp"
#include "apps/run/solve_run.hpp"
#include "apps/run/staggered_batches.hpp"
#include "apps/run/turns_on_ranks.hpp"
#include "codelets/actions/staggered/action.hpp"
#include "codelets/gauge/smear/hisq.hpp"
#include "codelets/lattice/block_geometry.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/mpi/job.hpp"
#include "solvers/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <optional>
#include <span>
#include <string>

namespace quarkstar::app {
namespace {

using Clock = std::chrono::steady_clock;

/// A source of the run, and its restart files where there are any.
struct SourceFiles {
  Source source;
  std::optional<Checkpoint> checkpoint = {};
};

/// What all batches of one operator need.
struct OperatorRun {
  runtime::Session& session;
  runtime::Decomposition decomposition;
  JobEnergyMeter meter;
  std::vector<SourceFiles> sources = {};
  std::string equation = {};  ///< of the restart files; empty: there are none
  bool has_files() const { return !equation.empty(); }
  std::optional<Solver> solver = {};
  double making_seconds = 0;

  void make_solver(const smear::StaggeredLinks& links, const SolverSettings& settings, const Speed& speed) {
    const auto begin = Clock::now();
    solver.reset();
    solver.emplace(decomposition, staggered::Action(links), settings, speed);
    if (!runtime::Turns::taken()) session.wait_all();
    making_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  }
};

/// The restart files of the right-hand sides that are solved together.
class BatchFiles {
 public:
  BatchFiles(const OperatorRun& run, const std::vector<StaggeredTask>& batch, const RunConfig& config)
      : every_(config.checkpoint_every), done_before_(batch.size(), 0) {
    if (!run.has_files()) return;
    for (const StaggeredTask& task : batch) {
      const SourceFiles& files = run.sources[task.source];
      checkpoints_.push_back(&*files.checkpoint);
      keys_.push_back(staggered_key(run.equation, files.source, task.column, config.staggered.masses[task.mass]));
    }
  }
  /// Where there are files.
  void load(std::vector<HostField>& solutions) {
    for (std::size_t v = 0; v < keys_.size(); ++v) done_before_[v] = checkpoints_[v]->load(keys_[v], solutions[v].data).value_or(0);
  }
  void save(std::size_t v, const HostField& solution, int iterations) const {
    if (!keys_.empty()) checkpoints_[v]->save(keys_[v], solution.data, done_before_[v] + iterations);
  }
  Snapshots snapshots() const {
    if (keys_.empty()) return {};
    return {restart_file_due(every_), [this](std::span<const HostField> solutions, std::span<const int> iterations) {
              for (std::size_t v = 0; v < keys_.size(); ++v) save(v, solutions[v], iterations[v]);
            }};
  }

 private:
  int every_;
  std::vector<const Checkpoint*> checkpoints_;  ///< of each right-hand side, as the keys; none without files
  std::vector<RestartKey> keys_;
  std::vector<int> done_before_;
};

/// Whether any rank has a number other than zero: a Krylov space of several masses that was interrupted leaves the guess.
bool has_begun(const HostField& solution) {
  const bool mine = std::any_of(solution.data.begin(), solution.data.end(), [](const std::complex<double>& z) { return z != 0.0; });
  return runtime::mpi::Job::current().any(mine);
}

/// Solves one batch, keeps what comes back, and tells how many seconds it took. together: other batches are in flight, whose shares of time
/// and energy are told later.
double solve_batch(OperatorRun& run, const std::vector<StaggeredTask>& batch, const RunConfig& config, bool together, ProgressBar& bar,
                   RunReport& report, std::vector<StaggeredPropagators>& propagators) {
  const Box part = run.decomposition.part();
  std::vector<HostField> sources, solutions(batch.size(), HostField(colour_components, part));
  std::vector<double> masses;
  for (const StaggeredTask& task : batch) {
    sources.push_back(make_colour_source(run.sources[task.source].source, run.decomposition.lattice(), part, task.column));
    masses.push_back(config.staggered.masses[task.mass]);
  }
  if (run.has_files()) run.session.wait_all();  // files are for times without messages
  BatchFiles files(run, batch, config);
  files.load(solutions);
  const runtime::Energy before = together ? runtime::Energy{} : run.meter.read();
  std::optional<BoundMeter> bound_meter;
  if (config.bound) bound_meter.emplace(run.session);
  const std::vector<SolveResult> results = run.solver->solve(
      sources, masses, solutions,
      [&](int iterations, double residual) {
        bar.update(static_cast<int>(report.solves.size()), residual_fraction(residual, config.solver.tolerance),
                   fmt::format("iteration {}  |r|/|b| {:.2e}", iterations, residual));
        return !interrupted_anywhere() && !runtime::Turns::failed();
      },
      files.snapshots());
  double seconds = 0, bytes = 0;
  for (const SolveResult& result : results) {
    seconds += result.seconds;
    bytes += result.bytes;
  }
  runtime::Energy energy{{0, "not measured"}, {0, "not measured"}};
  std::optional<double> idle_us;
  std::optional<BoundReport> bound;
  if (!together) {
    energy = share_of(run.meter.since(before), batch.size());
    if (bound_meter) {
      run.session.wait_all();
      bound = bound_meter->ended(seconds, bytes);
    }
    idle_us = idle_us_a_task(run.decomposition, results);
  }
  const bool stopped = interrupted_anywhere();
  if (run.has_files()) run.session.wait_all();
  for (std::size_t v = 0; v < batch.size(); ++v)
    if (results[v].converged() || (worth_saving(results[v]) && has_begun(solutions[v]))) files.save(v, solutions[v], results[v].iterations);
  if (runtime::Turns::failed()) throw Interrupted{config.checkpoint};  // given up for another's failure, which is what comes out
  for (std::size_t v = 0; v < batch.size(); ++v)
    report.solves.push_back({.column = batch[v].column,
                             .result = results[v],
                             .energy = energy,
                             .mass = masses[v],
                             .idle_us = idle_us,
                             .bound = bound,
                             .source = batch[v].source});
  for (std::size_t v = 0; v < batch.size(); ++v) {
    if (results[v].reason == StopReason::interrupted || stopped) throw Interrupted{config.checkpoint};
    if (!results[v].converged()) {
      report.failed = true;
      write_trace(run.session, config);
      const std::string source = run.sources.size() > 1 ? fmt::format("source {}, ", text_of(run.sources[batch[v].source].source)) : "";
      throw_failure(config, fmt::format("{}colour {}, mass {}", source, batch[v].column, masses[v]), results[v]);
    }
    const auto place = std::find(config.columns.begin(), config.columns.end(), batch[v].column) - config.columns.begin();
    propagators[batch[v].source][batch[v].mass].columns[static_cast<std::size_t>(place)] = std::move(solutions[v]);
  }
  bar.step_done(
      static_cast<int>(report.solves.size()),
      fmt::format("{} iterations, true residual {:.2e}, {:.3f} s, {:.2f} GFLOP/s", results[0].iterations, results[0].true_residual,
                  results[0].seconds * static_cast<double>(batch.size()), report.solves.back().gflops()));
  return seconds;
}

/// Every right-hand side of the run, in the order in which they are solved when one batch at a time is.
std::vector<SolveKey> all_solves(const RunConfig& config) {
  std::vector<SolveKey> keys;
  for (const auto& batch : staggered_batches(config))
    for (const StaggeredTask& task : batch) keys.push_back({task.column, config.staggered.masses[task.mass], task.source});
  return keys;
}

/// The links of the action, with the one Naik epsilon of the run.
smear::StaggeredLinks make_links(const smear::Region& region, const HostGauge& gauge, const RunConfig& config) {
  const BoundaryAngles& boundary = config.wilson.boundary;
  if (config.action == "hisq") return smear::hisq_links(region, gauge, boundary, *config.staggered.naik_epsilon);
  if (config.action == "asqtad") return smear::asqtad_links(region, gauge, boundary, *config.staggered.u0);
  return smear::naive_links(region, gauge, boundary);
}

}  // namespace

std::vector<StaggeredPropagators> solve_staggered_on(const runtime::Decomposition& decomposition, const smear::StaggeredLinks& links,
                                                     const RunConfig& config, RunReport& report) {
  runtime::Session& session = runtime::Session::current();
  SolverSettings settings = config.solver;
  settings.keep_history = true;  // the report plots it
  const std::vector<int> numbers = numbers_together(config);
  const Speed speed{.vectors = *std::max_element(numbers.begin(), numbers.end()),
                    .vectors_in_lanes = vectors_in_lanes_for(colour_components, settings, numbers)};
  OperatorRun run{session, decomposition, JobEnergyMeter(session)};
  run.make_solver(links, settings, speed);
  AdaptiveCut adaptive(session, decomposition.lattice(), thinnest_block(config.hops_far()), report.memory);
  for (const Source& source : config.all_sources()) run.sources.push_back({source});
  if (!config.checkpoint.empty()) {
    run.equation = describe_operator(config, links, decomposition);
    for (std::size_t s = 0; s < run.sources.size(); ++s)
      run.sources[s].checkpoint.emplace(of_source(config, s).checkpoint, decomposition.lattice(), decomposition.part());
  }
  StaggeredPropagators unsolved;
  for (const double mass : config.staggered.masses)
    unsolved.push_back({mass, links.naik_epsilon, std::vector<HostField>(config.columns.size())});
  std::vector<StaggeredPropagators> propagators(run.sources.size(), unsolved);
  ProgressBar bar("right-hand side", static_cast<int>(run.sources.size() * config.columns.size() * report.config.staggered.masses.size()));
  const auto all = staggered_batches(config);
  const bool together = config.solver.in_flight > 1, among_others = together || runtime::Turns::taken();
  const auto forget_events = [&] {  // of links, and of measurements
    if (config.trace.empty() || report.solves.empty()) session.events().reset();
  };
  if (together) {
    for (const int number : numbers) run.solver->prepare(number);  // measures while nothing else runs
    forget_events();
  }
  std::optional<SharedAccount> account;
  if (together) account.emplace(session, decomposition);
  run_on_ranks(static_cast<int>(all.size()), config.solver.in_flight, [&](int b) {
    stop_all_if_interrupted(config.checkpoint);  // between two batches, or while it all was set up
    const std::vector<StaggeredTask>& batch = all[static_cast<std::size_t>(b)];
    if (!among_others) {
      run.solver->prepare(static_cast<int>(batch.size()));
      forget_events();
      adaptive.begins();
    }
    const double seconds = solve_batch(run, batch, config, among_others, bar, report, propagators);
    if (report.timeline.empty()) {
      session.wait_all();
      record_timeline(session, report);
      if (among_others && config.trace.empty()) session.events().set_detail(runtime::Events::Detail::totals);
    }
    if (among_others) return;
    session.wait_all();
    if (config.trace.empty()) session.events().reset();  // only a trace needs them all; long runs would fill the memory
    const int remaining = static_cast<int>(all.size()) - b - 1;
    if (const auto better = adaptive.ended(run.decomposition, seconds, remaining, run.making_seconds)) {
      run.decomposition = *better;
      run.make_solver(links, settings, speed);
    }
  });
  if (account) {
    account->share(report.solves);
    bring_into_order(report.solves, all_solves(config));
  }
  report.resplits.insert(report.resplits.end(), adaptive.resplits().begin(), adaptive.resplits().end());
  return propagators;
}

std::vector<StaggeredPropagators> solve_staggered(const LinksOfPart& links, const Coord& lattice, const RunConfig& config,
                                                  RunReport& report, const std::function<void(const RunReport&)>& planned) {
  const auto start = Clock::now();
  catch_interrupts();
  runtime::SessionOptions options = config.session;
  options.keep_events = true;
  options.time_kernels = !config.trace.empty();
  runtime::Session session(options);
  provide_power(session);
  report.power = session.options().power;
  const PlannedLattice plan = plan_run(session, lattice, config);
  const runtime::Decomposition& decomposition = plan.decomposition;
  runtime::mpi::Job::current().together([&] { require_thick_blocks(decomposition, smear::longest_hop(config.hops_far())); });
  report.decomposition = decomposition.describe();
  report.devices = plan.plan;
  report.memory = memory_needs(session, decomposition, config);
  if (planned) planned(report);
  runtime::mpi::Job::current().together([&] { require_memory(report.memory); });
  std::optional<runtime::WorkerProfile> profile;
  const auto set_up = [&] {
    report.setup_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    session.wait_all();
    session.events().reset();
    if (!config.json.empty()) profile.emplace(session);  // it costs every task some clock readings, and only the JSON shows it
  };
  std::vector<StaggeredPropagators> propagators;
  const auto solve_all = [&](const smear::StaggeredLinks& made) {
    set_up();
    propagators = solve_staggered_on(decomposition, made, config, report);
  };
  if (config.staggered.from_files()) {
    solve_all(load_links(report.config, decomposition, session.cpu_team(), report.gauge));
  } else {
    const smear::Region region = plan_links(session, decomposition, config);
    const HostGauge& gauge = links(decomposition);
    if (config.staggered.naik_epsilon) {
      solve_all(make_links(region, gauge, config));
    } else {
      const smear::HisqLinks hisq(region, gauge, config.wilson.boundary);  // only HISQ has an epsilon for each mass
      set_up();
      // The links of the next masses are made while others are solved for.
      std::optional<SharedAccount> account;
      if (config.solver.in_flight > 1) account.emplace(session, decomposition);
      const std::size_t masses = config.staggered.masses.size();
      propagators.assign(1 + config.further_sources.size(), StaggeredPropagators(masses));
      run_on_ranks(static_cast<int>(masses), config.solver.in_flight, [&](int m) {
        stop_all_if_interrupted(config.checkpoint);  // before links are made
        RunConfig one = config;
        const double mass = config.staggered.masses[static_cast<std::size_t>(m)];
        one.staggered.masses = {mass};
        one.solver.in_flight = 1;
        std::vector<StaggeredPropagators> of_mass =
            solve_staggered_on(decomposition, hisq.links(smear::naik_epsilon_of_mass(mass)), one, report);
        for (std::size_t s = 0; s < of_mass.size(); ++s) propagators[s][static_cast<std::size_t>(m)] = std::move(of_mass[s].front());
      });
      if (account) {
        account->share(report.solves);
        bring_into_order(report.solves, all_solves(config));
      }
    }
  }
  if (profile) record_worker_times(*profile, report);
  write_trace(session, config);
  return propagators;
}

}  // namespace quarkstar::app
