#include "apps/run/run.hpp"

#include "apps/run/eigen_file.hpp"
#include "apps/run/link_loader.hpp"
#include "apps/run/outputs.hpp"
#include "apps/run/rank_plan.hpp"
#include "apps/run/shared_settings.hpp"
#include "apps/run/solve_run.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/memory.hpp"
#include "runtime/system/watchdog.hpp"
#include "solvers/multigrid/choice.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <memory>

namespace quarkstar::app {

Coord read_extents(RunReport& report) {
  RunConfig& config = report.config;
  Coord extents{};
  if (config.action->has_own_links(config.settings)) {
    ActionRun action = action_run(report);
    extents = config.action->accept_files(action);
    take(config, action);
  } else {
    extents = gauge_extents(config.gauge, config.lattice);
  }
  check_multigrid(config.solver, extents);
  for (const Source& source : config.all_sources()) check_source(source, extents);
  for (const contract::HadronSink& sink : config.three_points.hadrons) check_sink(sink, extents);
  return extents;
}

namespace {

/// A report for each source of the run.
std::vector<RunReport> reports_of(const RunReport& run) {
  const std::vector<Source> sources = run.config.all_sources();
  std::vector<RunReport> reports(sources.size(), run);
  if (sources.size() == 1) return reports;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    reports[i].config = of_source(run.config, i);
    for (const Source& source : sources) reports[i].sources.push_back(text_of(source));
  }
  return reports;
}

/// The JSON of a failed solve. What went wrong there counts more than what goes wrong here.
void try_to_write(const RunReport& failed) {
  try {
    write_json_file(failed.config.json, failed);
  } catch (const Error& error) {
    spdlog::warn("{}", error.what());
  }
}

/// Writes the files of the folder, and the JSON. Collective.
void finish(const RunReport& report, const OutputFolder& folder, const Propagators& propagators, const RunListener& listener) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  if (job.is_root() && listener.solved) listener.solved(report);
  std::vector<std::string> written;
  if (folder.wanted()) written = write_outputs(folder, report, propagators);
  job.on_root([&] {
    if (!report.config.json.empty()) write_json_file(report.config.json, report);
    if (listener.written) listener.written(report, written);
  });
}

}  // namespace

void run(RunConfig config, RunWatch& watch, const RunListener& listener) {
  const auto start = std::chrono::steady_clock::now();
  complete(config);
  check_complete(config);
  RunReport whole;
  whole.config = std::move(config);
  whole.config.propagators = !whole.config.propagator_files.empty();
  describe_machine(whole);
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  job.watchdog().set_idle(std::chrono::seconds(whole.config.session.watchdog_seconds));
  require_same_settings_everywhere(shared_settings(whole.config));
  require_ranks(whole.config.ranks, whole.config.rank_weights, job.size());
  const std::size_t count = whole.config.all_sources().size();
  std::vector<std::unique_ptr<OutputFolder>> folders;
  job.on_root([&] {
    std::vector<std::string> used = inputs_of(whole.config);
    for (std::size_t i = 0; i < count; ++i) {
      const RunConfig of_one = of_source(whole.config, i);
      folders.push_back(std::make_unique<OutputFolder>(of_one.out));
      check_writable(of_one.json, used);
      used.push_back(of_one.json);
    }
    check_writable(whole.config.trace, used);
  });

  Coord lattice{};
  job.together([&] { lattice = read_extents(whole); });
  if (const std::string file = deflation_file(whole.config); !file.empty()) count_projector(whole.config, header_in(file));
  std::vector<RunReport> reports = reports_of(whole);
  if (folders.empty())
    for (const RunReport& report : reports)
      folders.push_back(std::make_unique<OutputFolder>(report.config.out, OutputFolder::MadeElsewhere{}));
  std::vector<SourceRun> sources;
  for (std::size_t i = 0; i < count; ++i)
    sources.push_back({reports[i], [&, i](const Propagators& propagators, const SolvedOn&) {
                         RunReport& report = reports[i];
                         if (!reports.front().solves.empty()) report.first_iterations = reports.front().solves.front().result.iterations;
                         report.total_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
                         finish(report, *folders[i], propagators, listener);
                       }});
  LinkLoader links(whole.config);
  // While the session starts, which takes half a second where there is a GPU: but not links whose size decides what else fits.
  const auto read_beside = [&] {
    const double bytes = static_cast<double>(volume(lattice)) * HostGauge::reals_per_site * sizeof(double);
    constexpr double small = 0.05;
    const auto free = runtime::available_host_memory();
    if (!job.is_distributed() && !whole.config.action->has_own_links(whole.config.settings) &&
        (!free || bytes < small * static_cast<double>(*free)))
      links.read_beside(host_team());
  };
  const auto tell = [&](const RunReport& planned) {
    if (job.is_root() && listener.planned) listener.planned(planned);
  };
  try {
    solve_sources(std::ref(links), lattice, sources, watch, tell, read_beside);
  } catch (const Error&) {
    // A failed solve leaves a JSON behind, for scripts that want to know how it failed, and nothing else.
    for (const RunReport& report : reports)
      if (!report.failure.empty() && !report.config.json.empty() && job.is_root()) try_to_write(report);
    throw;
  }
}

}  // namespace quarkstar::app
