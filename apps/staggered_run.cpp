#include "apps/staggered_run.hpp"

#include "apps/interrupt.hpp"
#include "apps/job_energy.hpp"
#include "apps/progress.hpp"
#include "apps/shared_account.hpp"
#include "apps/solve_plan.hpp"
#include "apps/solve_run.hpp"
#include "apps/staggered_batches.hpp"
#include "apps/timeline.hpp"
#include "codelets/smear/hisq.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/observe/chrome_trace.hpp"
#include "runtime/turns.hpp"
#include "solvers/staggered_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace quarkstar::app {
namespace {

using Clock = std::chrono::steady_clock;

/// One of n equal shares.
runtime::Energy share_of(runtime::Energy energy, std::size_t n) {
  for (runtime::EnergyReading* reading : {&energy.cpu, &energy.gpu}) reading->joules /= static_cast<double>(n);
  return energy;
}

/// What all batches of one operator need.
struct OperatorRun {
  runtime::Session& session;
  const runtime::Decomposition& decomposition;
  StaggeredSolver solver;
  JobEnergyMeter meter;
};

/// Solves one batch and keeps what comes back. together: other batches are in flight, whose shares of time and energy are told later.
void solve_batch(OperatorRun& run, const std::vector<StaggeredTask>& batch, const RunConfig& config, bool together, ProgressBar& bar, RunReport& report,
                 std::vector<StaggeredPropagator>& propagators) {
  const Box part = run.decomposition.part();
  std::vector<HostColour> sources, solutions(batch.size(), HostColour(part));
  std::vector<double> masses;
  for (const StaggeredTask& task : batch) {
    sources.push_back(make_colour_source(config.source, run.decomposition.lattice(), part, task.column));
    masses.push_back(config.staggered.masses[task.mass]);
  }
  const runtime::Energy before = run.meter.read();
  const double busy_before = together ? 0 : run.session.events().totals().busy_us;
  const std::vector<SolveResult> results = run.solver.solve(sources, masses, solutions, [&](int iterations, double residual) {
    bar.update(static_cast<int>(report.solves.size()), residual_fraction(residual, config.solver.tolerance),
               fmt::format("iteration {}  |r|/|b| {:.2e}", iterations, residual));
    return !interrupted_anywhere() && !runtime::Turns::failed();
  });
  const bool stopped = interrupted_anywhere();
  if (runtime::Turns::failed()) throw Interrupted{};  // given up for another's failure, which is what comes out
  runtime::Energy energy{{0, "not measured"}, {0, "not measured"}};
  std::optional<double> idle_us;
  if (!together) {
    energy = share_of(run.meter.since(before), batch.size());
    double seconds = 0;
    std::int64_t tasks = 0;
    for (const SolveResult& result : results) {
      seconds += result.seconds;
      tasks += result.tasks;
    }
    idle_us = idle_us_a_task(run.decomposition, seconds, tasks, run.session.events().totals().busy_us - busy_before);
  }
  for (std::size_t v = 0; v < batch.size(); ++v) {
    report.solves.push_back({.column = batch[v].column, .result = results[v], .energy = energy, .mass = masses[v], .idle_us = idle_us});
    if (results[v].reason == StopReason::interrupted || stopped) throw Interrupted{};
    if (!results[v].converged()) {
      report.failed = true;
      throw_failure(config, fmt::format("colour {}, mass {}", batch[v].column, masses[v]), results[v]);
    }
    const auto place = std::find(config.columns.begin(), config.columns.end(), batch[v].column) - config.columns.begin();
    propagators[batch[v].mass].columns[static_cast<std::size_t>(place)] = std::move(solutions[v]);
  }
  bar.step_done(static_cast<int>(report.solves.size()),
                fmt::format("{} iterations, true residual {:.2e}, {:.3f} s, {:.2f} GFLOP/s", results[0].iterations, results[0].true_residual,
                            results[0].seconds * static_cast<double>(batch.size()), report.solves.back().gflops()));
}

/// Every right-hand side of the run, in the order in which they are solved when one batch at a time is.
std::vector<SolveKey> all_solves(const RunConfig& config) {
  std::vector<SolveKey> keys;
  for (const auto& batch : staggered_batches(config))
    for (const StaggeredTask& task : batch) keys.emplace_back(task.column, config.staggered.masses[task.mass]);
  return keys;
}

/// The links of the action, with the one Naik epsilon of the run.
smear::StaggeredLinks make_links(const runtime::Decomposition& decomposition, const HostGauge& gauge, const RunConfig& config) {
  const BoundaryAngles& boundary = config.wilson.boundary;
  if (config.action == "hisq") return smear::hisq_links(decomposition, gauge, boundary, *config.staggered.naik_epsilon);
  if (config.action == "asqtad") return smear::asqtad_links(decomposition, gauge, boundary, *config.staggered.u0);
  return smear::naive_links(decomposition, gauge, boundary);
}

}  // namespace

std::vector<StaggeredPropagator> solve_staggered_on(const runtime::Decomposition& decomposition, const smear::StaggeredLinks& links,
                                                    const RunConfig& config, RunReport& report) {
  runtime::Session& session = runtime::Session::current();
  SolverSettings settings = config.solver;
  settings.keep_history = true;  // the report plots it
  OperatorRun run{session, decomposition, StaggeredSolver(decomposition, links, settings), JobEnergyMeter(session)};
  if (!runtime::Turns::taken()) {
    session.wait_all();
    if (config.trace.empty()) session.events().reset();
  }
  std::vector<StaggeredPropagator> propagators;
  for (const double mass : config.staggered.masses)
    propagators.push_back({mass, links.naik_epsilon, std::vector<HostColour>(config.columns.size())});
  ProgressBar bar("right-hand side", static_cast<int>(config.columns.size() * report.config.staggered.masses.size()));
  const auto all = staggered_batches(config);
  const bool together = config.solver.in_flight > 1;
  std::optional<SharedAccount> account;
  if (together) account.emplace(session, decomposition);
  runtime::Turns::run(static_cast<int>(all.size()), config.solver.in_flight, [&](int b) {
    const bool among_others = together || runtime::Turns::taken();
    solve_batch(run, all[static_cast<std::size_t>(b)], config, among_others, bar, report, propagators);
    if (report.timeline.empty()) {
      session.wait_all();
      record_timeline(session, report);
      if (among_others && config.trace.empty()) session.events().set_detail(runtime::Events::Detail::totals);
    }
    if (among_others) return;
    session.wait_all();
    if (config.trace.empty()) session.events().reset();  // only a trace needs them all; long runs would fill the memory
  });
  if (account) {
    account->share(report.solves);
    bring_into_order(report.solves, all_solves(config));
  }
  return propagators;
}

std::vector<StaggeredPropagator> solve_staggered(const LinksOfPart& links, const Coord& lattice, const RunConfig& config, RunReport& report,
                                                 const std::function<void(const RunReport&)>& planned) {
  const auto start = Clock::now();
  catch_interrupts();
  runtime::SessionOptions options = config.session;
  options.keep_events = true;
  options.time_kernels = !config.trace.empty();
  runtime::Session session(options);
  const PlannedLattice plan = plan_equal_parts(session, lattice, config);
  const runtime::Decomposition& decomposition = plan.decomposition;
  report.decomposition = decomposition.describe();
  report.devices = plan.plan;
  report.memory = memory_needs(session, decomposition, config);
  if (planned) planned(report);
  runtime::mpi::Job::current().together([&] { require_memory(report.memory); });
  const runtime::Decomposition of_links = plan_links(session, decomposition);
  const HostGauge& gauge = links(of_links);
  const auto set_up = [&] {
    report.setup_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    session.wait_all();
    session.events().reset();
  };
  std::vector<StaggeredPropagator> propagators;
  if (config.staggered.naik_epsilon) {
    const smear::StaggeredLinks made = make_links(of_links, gauge, config);
    set_up();
    propagators = solve_staggered_on(decomposition, made, config, report);
  } else {
    const smear::HisqLinks hisq(of_links, gauge, config.wilson.boundary);  // only HISQ has an epsilon for each mass
    set_up();
    // The links of the next masses are made while others are solved for.
    std::optional<SharedAccount> account;
    if (config.solver.in_flight > 1) account.emplace(session, decomposition);
    propagators.resize(config.staggered.masses.size());
    runtime::Turns::run(static_cast<int>(propagators.size()), config.solver.in_flight, [&](int m) {
      RunConfig one = config;
      const double mass = config.staggered.masses[static_cast<std::size_t>(m)];
      one.staggered.masses = {mass};
      one.solver.in_flight = 1;
      propagators[static_cast<std::size_t>(m)] =
          std::move(solve_staggered_on(decomposition, hisq.links(smear::naik_epsilon_of_mass(mass)), one, report).front());
    });
    if (account) {
      account->share(report.solves);
      bring_into_order(report.solves, all_solves(config));
    }
  }
  if (!config.trace.empty()) runtime::write_chrome_trace(session, session.events(), trace_of_rank(config.trace));
  return propagators;
}

}  // namespace quarkstar::app
