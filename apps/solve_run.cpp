#include "apps/solve_run.hpp"

#include "apps/checkpoint.hpp"
#include "apps/interrupt.hpp"
#include "apps/job_energy.hpp"
#include "apps/progress.hpp"
#include "apps/shared_account.hpp"
#include "apps/solve_plan.hpp"
#include "apps/timeline.hpp"
#include "runtime/decomposition.hpp"
#include "runtime/error.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/observe/chrome_trace.hpp"
#include "runtime/turns.hpp"
#include "solvers/wilson_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>

namespace quarkstar::app {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string remedy_for(StopReason reason) {
  switch (reason) {
    case StopReason::iteration_limit:
      return "raise --max-iterations, or move the mass (kappa) away from its critical value";
    case StopReason::not_finite:
      return "check the links with `quarkstar gauge info`, and the mass (kappa)";
    case StopReason::stagnation:
      return "loosen --tol, use --precision double, or another --solver";
    default:
      return "try another --solver (cgnr decreases the residual in every step)";
  }
}

/// Restart files of one column while it is being solved: every so many iterations, and when a signal asks for one.
Snapshots snapshots_of(const Checkpoint* checkpoint, int column, int every, int done_before) {
  if (checkpoint == nullptr) return {};
  return {[every, last = 0, seen = save_requests()](int iterations) mutable {
            const bool counted = every > 0 && iterations - last >= every;
            const int requests = save_requests();
            const bool asked = requests > seen;  // each column in flight answers each request
            seen = requests;
            if (counted) last = iterations;
            return counted || asked;
          },
          [=](const HostSpinor& solution, int iterations) { checkpoint->save(column, solution, done_before + iterations); }};
}

/// What the columns of one run share. With several in flight (runtime/turns.hpp) one of them at a time is here.
class ColumnsRun {
 public:
  ColumnsRun(runtime::Session& session, const Coord& lattice, const runtime::Decomposition& decomposition, WilsonSolver& solver,
             const Checkpoint* checkpoint, const RunConfig& config, RunReport& report)
      : session_(session), lattice_(lattice), decomposition_(decomposition), solver_(solver), checkpoint_(checkpoint), config_(config), report_(report),
        meter_(session), bar_("column", static_cast<int>(config.columns.size())) {
    propagator_.fields.resize(config.columns.size());
  }

  Propagator run() {
    std::optional<SharedAccount> account;
    if (together()) account.emplace(session_, decomposition_);
    runtime::Turns::run(static_cast<int>(config_.columns.size()), config_.solver.in_flight, [this](int number) { solve(static_cast<std::size_t>(number)); });
    std::vector<SharedAccount::Key> order;
    for (const int column : config_.columns) order.emplace_back(column, std::nullopt);
    if (account) account->share(report_.solves, order);
    return std::move(propagator_);
  }

 private:
  bool together() const { return config_.solver.in_flight > 1; }

  void solve(std::size_t number) {
    const int column = config_.columns[number];
    HostSpinor solution(decomposition_.part());
    int done_before = 0;
    if (checkpoint_ != nullptr) {
      session_.wait_all();  // files are for times without messages
      done_before = checkpoint_->load(column, solution).value_or(0);
    }
    const runtime::Energy before = together() ? runtime::Energy{} : meter_.read();
    const double busy_before = together() ? 0 : session_.events().totals().busy_us;
    const HostSpinor source = make_source(config_.source, lattice_, decomposition_.part(), column);
    const SolveResult result = solver_.solve(
        source, solution,
        [this](int iterations, double residual) {
          bar_.update(done_, residual_fraction(residual, config_.solver.tolerance), fmt::format("iteration {}  |r|/|b| {:.2e}", iterations, residual));
          return !interrupted_anywhere() && !runtime::Turns::failed();
        },
        snapshots_of(checkpoint_, column, config_.checkpoint_every, done_before));
    const bool stopped = result.reason == StopReason::interrupted || interrupted_anywhere();
    if (checkpoint_ != nullptr || !together()) session_.wait_all();
    const bool given_up = runtime::Turns::failed() && !result.converged();  // another's failure is what comes out of this run
    if (!given_up) {
      ColumnReport solved{column, result};
      if (!together()) {
        solved.energy = meter_.since(before);
        solved.idle_us = idle_us_a_task(decomposition_, result.seconds, result.tasks, session_.events().totals().busy_us - busy_before);
      }
      report_.solves.insert(report_.solves.end() - (report_.failed ? 1 : 0), std::move(solved));  // the one that failed stays the last
      if (done_++ == 0) keep_timeline();
    }
    if (stopped || result.converged())
      if (checkpoint_ != nullptr) checkpoint_->save(column, solution, done_before + result.iterations);
    if (stopped || given_up) throw Interrupted{config_.checkpoint};
    if (!result.converged()) {
      report_.failed = true;
      throw_failure(config_, fmt::format("column {} (spin {}, colour {})", column, column / 3, column % 3), result);
    }
    if (!together() && config_.trace.empty()) session_.events().reset();  // only a trace needs them all; long runs would fill the memory
    propagator_.fields[number] = std::move(solution);
    bar_.step_done(done_, fmt::format("{} iterations, true residual {:.2e}, {:.3f} s, {:.2f} GFLOP/s", result.iterations, result.true_residual,
                                      result.seconds, result.seconds > 0 ? result.flops / result.seconds * 1e-9 : 0));
  }

  /// The timeline of what ran until the first column was done. With others in flight no later moment is without tasks.
  void keep_timeline() {
    session_.wait_all();
    record_timeline(session_, report_);
    if (together() && config_.trace.empty()) session_.events().set_detail(runtime::Events::Detail::totals);
  }

  runtime::Session& session_;
  const Coord& lattice_;
  const runtime::Decomposition& decomposition_;
  WilsonSolver& solver_;
  const Checkpoint* checkpoint_;
  const RunConfig& config_;
  RunReport& report_;
  JobEnergyMeter meter_;
  ProgressBar bar_;
  Propagator propagator_;
  int done_ = 0;
};

}  // namespace

void throw_failure(const RunConfig& config, const std::string& right_hand_side, const SolveResult& result) {
  throw Error(ErrorKind::numerical, right_hand_side,
              fmt::format("{} ended after {} iterations with |b - M x| / |b| = {:.3e} above {:g}: {}",
                          config.solver.solver, result.iterations, result.true_residual, config.solver.tolerance, describe(result.reason)),
              remedy_for(result.reason));
}

std::string trace_of_rank(const std::string& path) {
  const runtime::mpi::Job& job = runtime::mpi::Job::current();
  if (job.is_root()) return path;
  const std::filesystem::path file(path);
  return file.parent_path() / fmt::format("{}.rank{}{}", file.stem().string(), job.rank(), file.extension().string());
}

double idle_us_a_task(const runtime::Decomposition& decomposition, double seconds, std::int64_t tasks, double busy_us) {
  double idle = seconds * 1e6 * owner_count(decomposition) - busy_us;
  runtime::mpi::Job::current().combine(std::span(&idle, 1), runtime::mpi::Combine::sum);
  return tasks > 0 ? std::max(0.0, idle) / static_cast<double>(tasks) : 0;
}

Propagator solve_columns(const LinksOfPart& links, const Coord& lattice, const RunConfig& config, RunReport& report,
                         const std::function<void(const RunReport&)>& planned) {
  const auto start = std::chrono::steady_clock::now();
  catch_interrupts();
  runtime::SessionOptions options = config.session;
  options.keep_events = true;
  options.time_kernels = !config.trace.empty();
  runtime::Session session(options);
  const PlannedLattice plan = plan_wilson(session, lattice, config);
  const runtime::Decomposition& decomposition = plan.decomposition;
  report.decomposition = decomposition.describe();
  report.devices = plan.plan;
  report.memory = memory_needs(session, decomposition, config);
  if (planned) planned(report);
  runtime::mpi::Job::current().together([&] { require_memory(report.memory); });
  SolverSettings settings = config.solver;
  settings.keep_history = true;  // the report plots it
  WilsonSolver solver(decomposition, links(decomposition), config.wilson, settings);
  session.wait_all();
  session.events().reset();
  report.setup_seconds = seconds_since(start);

  std::optional<Checkpoint> checkpoint;
  if (!config.checkpoint.empty())
    checkpoint.emplace(config.checkpoint, describe_problem(config, 0.5 * (report.gauge.spatial_plaquette + report.gauge.temporal_plaquette), report.gauge.link_trace),
                       lattice, decomposition.part());
  Propagator propagator = ColumnsRun(session, lattice, decomposition, solver, checkpoint ? &*checkpoint : nullptr, config, report).run();
  if (!config.trace.empty()) runtime::write_chrome_trace(session, session.events(), trace_of_rank(config.trace));
  return propagator;
}

}  // namespace quarkstar::app
