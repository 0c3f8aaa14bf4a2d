#include "apps/run/solve_run.hpp"

#include "apps/command/interrupt.hpp"
#include "apps/command/progress.hpp"
#include "apps/report/timeline.hpp"
#include "apps/run/adaptive_cut.hpp"
#include "apps/run/checkpoint.hpp"
#include "apps/run/job_energy.hpp"
#include "apps/run/measure_power.hpp"
#include "apps/run/shared_account.hpp"
#include "apps/run/solve_bound.hpp"
#include "apps/run/solve_plan.hpp"
#include "apps/run/staggered_batches.hpp"
#include "apps/run/turns_on_ranks.hpp"
#include "codelets/actions/wilson/action.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/observe/chrome_trace.hpp"
#include "runtime/system/error.hpp"
#include "solvers/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

namespace quarkstar::app {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string remedy_for(StopReason reason, const RunConfig& config) {
  const std::string& checkpoint = config.checkpoint;
  const bool staggered = config.is_staggered();
  switch (reason) {
    case StopReason::iteration_limit:
      return (checkpoint.empty() ? "" : fmt::format("start it again to go on from the restart files in {}, ", checkpoint)) +
             (staggered ? "raise --max-iterations, or take a larger mass"
                        : "raise --max-iterations, or move the mass (kappa) away from its critical value");
    case StopReason::not_finite:
      if (config.staggered.from_files()) return "check the files of --fat and --long, and the mass";
      return fmt::format("check the links with `quarkstar gauge info`, and the mass{}", staggered ? "" : " (kappa)");
    case StopReason::stagnation:
      return "loosen --tol, use --precision double, or another --solver";
    default:
      return staggered ? "try another --solver, or --precision double" : "try another --solver (cgnr decreases the residual in every step)";
  }
}

/// What all columns of a run share. With several in flight (runtime/graph/turns.hpp) one of them at a time is here.
struct ColumnsShared {
  runtime::Session& session;
  const Coord& lattice;
  runtime::Decomposition& decomposition;  ///< the policy `adaptive` may cut it anew between columns, unless several are in flight
  std::optional<Solver>& solver;
  std::function<void()> make_solver;  ///< for the decomposition as it is
  const double& making_seconds;
  AdaptiveCut& adaptive;
  std::optional<runtime::WorkerProfile>& profile;
  int columns;    ///< of all sources
  bool together;  ///< several are in flight
  JobEnergyMeter meter;
  ProgressBar bar;
  const RunReport* first = nullptr;  ///< with the timeline
  int done = 0;
};

/// The columns of one source.
class SourceColumns {
 public:
  SourceColumns(ColumnsShared& shared, SourceRun& source)
      : shared_(shared), config_(source.config), report_(source.report), done_(source.done), remaining_(config_.columns.size()) {
    propagator_.fields.resize(remaining_);
    if (config_.checkpoint.empty()) return;
    const double plaquette = 0.5 * (report_.gauge.spatial_plaquette + report_.gauge.temporal_plaquette);
    problem_ = describe_problem(config_, plaquette, report_.gauge.link_trace);
    checkpoint_.emplace(config_.checkpoint, shared.lattice, shared.decomposition.part());
  }

  /// Solves a group of columns together.
  void solve(const std::vector<int>& columns) {
    stop_all_if_interrupted(config_.checkpoint);  // while the columns before were contracted and written, or it all was set up
    runtime::Session& session = shared_.session;
    const Box part = shared_.decomposition.part();
    const std::size_t n = columns.size();
    std::vector<HostField> sources, solutions(n, HostField(spinor_components, part));
    std::vector<RestartKey> keys;
    std::vector<int> done_before(n, 0);
    if (checkpoint_) session.wait_all();  // files are for times without messages
    for (std::size_t v = 0; v < n; ++v) {
      sources.push_back(make_source(config_.source, shared_.lattice, part, columns[v]));
      keys.push_back({fmt::format("column{:02}", columns[v]), problem_});
      if (checkpoint_) done_before[v] = checkpoint_->load(keys[v], solutions[v].data).value_or(0);
    }
    const runtime::Energy before = shared_.together ? runtime::Energy{} : shared_.meter.read();
    if (!shared_.together) shared_.adaptive.begins();
    std::optional<BoundMeter> bound;
    if (config_.bound) bound.emplace(session);
    Snapshots snapshots;
    if (checkpoint_)
      snapshots = {restart_file_due(config_.checkpoint_every), [&](std::span<const HostField> iterates, std::span<const int> iterations) {
                     for (std::size_t v = 0; v < n; ++v) checkpoint_->save(keys[v], iterates[v].data, done_before[v] + iterations[v]);
                   }};
    const std::vector<double> kappas(n, config_.wilson.kappa);
    const std::vector<SolveResult> results = shared_.solver->solve(
        sources, kappas, solutions,
        [this](int iterations, double residual) {
          shared_.bar.update(shared_.done, residual_fraction(residual, config_.solver.tolerance),
                             fmt::format("iteration {}  |r|/|b| {:.2e}", iterations, residual));
          return !interrupted_anywhere() && !runtime::Turns::failed();
        },
        snapshots);
    const bool stopped = interrupted_anywhere() || std::any_of(results.begin(), results.end(), [](const SolveResult& result) {
                           return result.reason == StopReason::interrupted;
                         });
    if (checkpoint_ || !shared_.together) session.wait_all();
    const bool all_converged = std::all_of(results.begin(), results.end(), [](const SolveResult& result) { return result.converged(); });
    const bool given_up = runtime::Turns::failed() && !all_converged;  // another's failure is what comes out of this run
    double seconds = 0, bytes = 0;
    for (const SolveResult& result : results) {
      seconds += result.seconds;
      bytes += result.bytes;
    }
    if (!given_up) {
      runtime::Energy energy{{0, "not measured"}, {0, "not measured"}};
      std::optional<double> idle_us;
      std::optional<BoundReport> of_bound;
      if (!shared_.together) {
        energy = share_of(shared_.meter.since(before), n);
        idle_us = idle_us_a_task(shared_.decomposition, results);
        if (bound) of_bound = bound->ended(seconds, bytes);
        bound.reset();
      }
      const bool first = shared_.done == 0;
      for (std::size_t v = 0; v < n; ++v) {
        ColumnReport solved{columns[v], results[v]};
        solved.energy = energy;
        solved.idle_us = idle_us;
        solved.bound = of_bound;
        report_.solves.insert(report_.solves.end() - (report_.failed ? 1 : 0), std::move(solved));  // the one that failed stays the last
        ++shared_.done;
      }
      if (first) keep_timeline();
    }
    for (std::size_t v = 0; v < n; ++v)
      if (checkpoint_ && worth_saving(results[v])) checkpoint_->save(keys[v], solutions[v].data, done_before[v] + results[v].iterations);
    if (stopped || given_up) throw Interrupted{config_.checkpoint};
    for (std::size_t v = 0; v < n; ++v) {
      if (results[v].converged()) continue;
      report_.failed = true;
      write_trace(session, config_);
      throw_failure(config_, fmt::format("column {} (spin {}, colour {})", columns[v], columns[v] / 3, columns[v] % 3), results[v]);
    }
    if (!shared_.together && config_.trace.empty())
      session.events().reset();  // only a trace needs them all; long runs would fill the memory
    for (std::size_t v = 0; v < n; ++v) {
      const auto place = std::find(config_.columns.begin(), config_.columns.end(), columns[v]) - config_.columns.begin();
      propagator_.fields[static_cast<std::size_t>(place)] = std::move(solutions[v]);
    }
    if (!shared_.together) cut_anew(seconds);
    const SolveResult& shown = results.front();
    shared_.bar.step_done(
        shared_.done, fmt::format("{} iterations, true residual {:.2e}, {:.3f} s, {:.2f} GFLOP/s", shown.iterations, shown.true_residual,
                                  seconds, shown.seconds > 0 ? shown.flops / shown.seconds * 1e-9 : 0));
    remaining_ -= n;
  }

  bool complete() const { return remaining_ == 0; }
  std::vector<ColumnReport>& solves() { return report_.solves; }

  /// Gives the propagator away.
  void conclude() {
    std::vector<SolveKey> order;
    for (const int column : config_.columns) order.push_back({column});
    bring_into_order(report_.solves, order);
    if (shared_.first != &report_) {
      report_.workers = shared_.first->workers;
      report_.timeline = shared_.first->timeline;
    }
    report_.resplits = shared_.adaptive.resplits();
    if (shared_.profile) record_worker_times(*shared_.profile, report_);
    if (runtime::mpi::Job::current().is_distributed()) shared_.session.wait_all();  // files are for times without messages
    done_(std::move(propagator_));
    propagator_ = {};
  }

 private:
  /// Where that pays for the columns to come (policy `adaptive`).
  void cut_anew(double seconds) {
    const auto better = shared_.adaptive.ended(shared_.decomposition, seconds, shared_.columns - shared_.done, shared_.making_seconds);
    if (!better) return;
    shared_.solver.reset();
    shared_.decomposition = *better;
    shared_.make_solver();
  }

  /// The timeline of what ran until the first column was done. With others in flight no later moment is without tasks.
  void keep_timeline() {
    shared_.session.wait_all();
    record_timeline(shared_.session, report_);
    shared_.first = &report_;
    if (shared_.together && config_.trace.empty()) shared_.session.events().set_detail(runtime::Events::Detail::totals);
  }

  ColumnsShared& shared_;
  const RunConfig& config_;
  RunReport& report_;
  std::function<void(Propagator)>& done_;
  std::optional<Checkpoint> checkpoint_;
  std::string problem_;  ///< of the restart files
  Propagator propagator_;
  std::size_t remaining_;
};

/// Runs the columns of all sources, config.solver.in_flight at a time.
void run_columns(ColumnsShared& shared, std::span<SourceRun> sources, int in_flight) {
  std::vector<std::unique_ptr<SourceColumns>> all;
  for (SourceRun& source : sources) all.push_back(std::make_unique<SourceColumns>(shared, source));
  const std::vector<std::vector<int>> groups = column_groups(sources.front().config);
  const bool several = sources.size() > 1;
  std::optional<SharedAccount> account;
  if (shared.together && !several) account.emplace(shared.session, shared.decomposition);
  run_on_ranks(static_cast<int>(groups.size() * sources.size()), in_flight, [&](int number) {
    SourceColumns& source = *all[static_cast<std::size_t>(number) / groups.size()];
    source.solve(groups[static_cast<std::size_t>(number) % groups.size()]);
    if (several && source.complete()) source.conclude();  // while columns of the next source are on the graph
  });
  if (several) return;
  if (account) account->share(all.front()->solves());
  all.front()->conclude();
}

/// Propagators of so many sources may be there at once besides the one that the memory of a solve counts.
double further_columns_bytes(const runtime::Decomposition& decomposition, const RunConfig& config, std::size_t sources) {
  const std::size_t groups = std::max<std::size_t>(1, column_groups(config).size()), columns = config.columns.size();
  const std::size_t alive = std::min(sources, 1 + (static_cast<std::size_t>(config.solver.in_flight) + groups - 2) / groups);
  const double column = static_cast<double>(volume(decomposition.part().extents)) * spinor_components * sizeof(std::complex<double>);
  return static_cast<double>((alive - 1) * columns) * column;
}

}  // namespace

runtime::Energy share_of(runtime::Energy energy, std::size_t n) {
  for (runtime::EnergyReading* reading : {&energy.cpu, &energy.gpu}) reading->joules /= static_cast<double>(n);
  return energy;
}

void throw_failure(const RunConfig& config, const std::string& right_hand_side, const SolveResult& result) {
  const std::string what = fmt::format("{} ended after {} iterations with |b - M x| / |b| = {:.3e} above {:g}: {}", config.solver.solver,
                                       result.iterations, result.true_residual, config.solver.tolerance, describe(result.reason));
  throw runtime::mpi::SharedError(ErrorKind::numerical, right_hand_side, what, remedy_for(result.reason, config));
}

void write_trace(runtime::Session& session, const RunConfig& config) {
  if (config.trace.empty()) return;
  session.wait_all();
  const runtime::mpi::Job& job = runtime::mpi::Job::current();
  std::filesystem::path file(config.trace);
  if (!job.is_root()) file.replace_filename(fmt::format("{}.rank{}{}", file.stem().string(), job.rank(), file.extension().string()));
  runtime::write_chrome_trace(session, session.events(), file.string());
}

double idle_us_a_task(const runtime::Decomposition& decomposition, std::span<const SolveResult> results) {
  double idle = 0, tasks = 0;
  for (const SolveResult& result : results) {
    idle += result.seconds * 1e6 * owner_count(decomposition) - result.busy_us;
    tasks += result.tasks;
  }
  runtime::mpi::Job::current().combine(std::span(&idle, 1), runtime::mpi::Combine::sum);
  return tasks > 0 ? std::max(0.0, idle) / tasks : 0;
}

void solve_sources(const LinksOfPart& links, const Coord& lattice, std::span<SourceRun> sources,
                   const std::function<void(const RunReport&)>& planned) {
  const auto start = std::chrono::steady_clock::now();
  catch_interrupts();
  const RunConfig& config = sources.front().config;
  RunReport& report = sources.front().report;
  runtime::SessionOptions options = config.session;
  options.keep_events = true;
  options.time_kernels = !config.trace.empty();
  runtime::Session session(options);
  provide_power(session);
  report.power = session.options().power;
  const PlannedLattice plan = plan_run(session, lattice, config);
  runtime::Decomposition decomposition = plan.decomposition;
  report.decomposition = decomposition.describe();
  report.devices = plan.plan;
  report.memory = memory_needs(session, decomposition, config);
  report.memory.back().other += further_columns_bytes(decomposition, config, sources.size());
  if (planned) planned(report);
  runtime::mpi::Job::current().together([&] { require_memory(report.memory); });
  SolverSettings settings = config.solver;
  settings.keep_history = true;  // the report plots it
  const HostGauge& gauge = links(decomposition);
  const std::vector<int> together = numbers_together(config);
  std::optional<Solver> solver;
  double making_seconds = 0;
  const auto make_solver = [&] {
    const auto begin = std::chrono::steady_clock::now();
    const Speed speed{.vectors = *std::max_element(together.begin(), together.end())};
    solver.emplace(decomposition, wilson::Action(gauge, config.wilson), settings, speed);
    session.wait_all();
    making_seconds = seconds_since(begin);
  };
  make_solver();
  session.events().reset();
  report.setup_seconds = seconds_since(start);
  AdaptiveCut adaptive(session, lattice, thinnest_block(config.hops_far()), report.memory,
                       settings.schwarz ? settings.schwarz->domain : Coord{1, 1, 1, 1});
  for (SourceRun& source : sources.subspan(1)) {
    source.report.decomposition = report.decomposition;
    source.report.devices = report.devices;
    source.report.memory = report.memory;
    source.report.gauge = report.gauge;
    source.report.power = report.power;
    source.report.setup_seconds = report.setup_seconds;
  }
  const int columns = static_cast<int>(config.columns.size() * sources.size());
  std::optional<runtime::WorkerProfile> profile;
  if (!config.json.empty()) profile.emplace(session);  // it costs every task some clock readings, and only the JSON shows it
  ColumnsShared shared{.session = session,
                       .lattice = lattice,
                       .decomposition = decomposition,
                       .solver = solver,
                       .make_solver = make_solver,
                       .making_seconds = making_seconds,
                       .adaptive = adaptive,
                       .profile = profile,
                       .columns = columns,
                       .together = config.solver.in_flight > 1,
                       .meter = JobEnergyMeter(session),
                       .bar = ProgressBar("column", columns)};
  run_columns(shared, sources, config.solver.in_flight);
  write_trace(session, config);
}

Propagator solve_columns(const LinksOfPart& links, const Coord& lattice, const RunConfig& config, RunReport& report,
                         const std::function<void(const RunReport&)>& planned) {
  Propagator result;
  SourceRun source{config, report, [&result](Propagator propagator) { result = std::move(propagator); }};
  solve_sources(links, lattice, {&source, 1}, planned);
  return result;
}

}  // namespace quarkstar::app
