// quarkstar solve [RUN.toml]
#include "apps/command/commands.hpp"
#include "apps/command/print_tables.hpp"
#include "apps/run/action_kind.hpp"
#include "apps/run/gauge_io.hpp"
#include "apps/run/links_input.hpp"
#include "apps/run/outputs.hpp"
#include "apps/run/rank_plan.hpp"
#include "apps/run/shared_settings.hpp"
#include "apps/run/solve_run.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/watchdog.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace quarkstar::app {
namespace {

struct SolveOptions {
  std::string file;
  std::vector<Assignment> flags;
};

/// Reads the header only, so that a wrong name or source costs no time.
Coord read_extents(const RunConfig& config) {
  const Coord extents = gauge_extents(config.gauge, config.lattice);
  for (const Source& source : config.all_sources()) check_source(source, extents);
  return extents;
}

/// Loads the links that this rank needs: its part of them, or all where the decomposition knows no other ranks.
class LinkLoader {
 public:
  explicit LinkLoader(RunReport& report) : report_(report) {}

  const HostGauge& operator()(const runtime::Decomposition& decomposition) {
    const RunConfig& config = report_.config;
    loaded_ = decomposition.is_distributed() ? load_gauge_part(config.gauge, config.lattice, decomposition)
                                             : load_gauge(config.gauge, config.lattice);
    const runtime::Team team = host_team();
    runtime::mpi::Job::current().together([&] {
      if (config.reunitarize) gauge::reunitarize(loaded_.gauge, team);
    });
    report_.gauge = loaded_.summary();
    return loaded_.gauge;
  }

 private:
  RunReport& report_;
  LoadedGauge loaded_;
};

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

/// Prints, and writes the files of the folder. Collective.
void finish(const RunReport& report, const OutputFolder& folder, const Propagators& propagators) {
  const RunConfig& config = report.config;
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  if (job.is_root()) print_report(report);
  if (folder.wanted()) {
    const std::vector<std::string> written = write_outputs(folder, report, propagators);
    if (job.is_root()) fmt::print("wrote {}\n", fmt::join(written, "\nwrote "));
    if (const int all = kind_of(config).components; job.is_root() && !has_all_columns(config))
      fmt::print("not written: {}correlators.h5, which need all {} columns\n", all == spinor_components ? "propagator.lime and " : "", all);
  }
  job.on_root([&] {
    if (config.json.empty()) return;
    write_json_file(config.json, report);
    fmt::print("wrote {}\n", config.json);
  });
}

void run_solve(const SolveOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  RunReport run;
  if (!options.file.empty()) apply_settings(run.config, read_toml(options.file));
  apply_settings(run.config, options.flags);
  complete(run.config);
  check_complete(run.config);
  describe_machine(run);
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  job.watchdog().set_idle(std::chrono::seconds(run.config.session.watchdog_seconds));
  require_same_settings_everywhere(shared_settings(run.config));
  require_ranks(run.config.ranks, run.config.rank_weights, job.size());
  const std::size_t count = run.config.all_sources().size();
  std::vector<std::unique_ptr<OutputFolder>> folders;
  job.on_root([&] {
    for (std::size_t i = 0; i < count; ++i) {
      const RunConfig config = of_source(run.config, i);
      folders.push_back(std::make_unique<OutputFolder>(config.out));
      check_writable(config.json);
    }
    check_writable(run.config.trace);
  });

  Coord lattice{};
  job.together(
      [&] { lattice = kind_of(run.config).has_own_links(run.config) ? accept_links_headers(run.config) : read_extents(run.config); });
  std::vector<RunReport> reports = reports_of(run);
  if (folders.empty())
    for (const RunReport& report : reports)
      folders.push_back(std::make_unique<OutputFolder>(report.config.out, OutputFolder::MadeElsewhere{}));
  std::vector<SourceRun> sources;
  for (std::size_t i = 0; i < count; ++i)
    sources.push_back({reports[i], [&, i](const Propagators& propagators) {
                         RunReport& report = reports[i];
                         if (has_all_columns(report.config)) report.correlators = contract(propagators, report.config, lattice[3]);
                         report.total_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
                         finish(report, *folders[i], propagators);
                       }});
  LinkLoader links(reports.front());
  try {
    solve_sources(std::ref(links), lattice, sources, [&job](const RunReport& planned) {
      if (job.is_root()) print_plan(planned);
    });
  } catch (const Error&) {
    // A failed solve leaves a JSON behind, for scripts that want to know how it failed, and nothing else.
    for (const RunReport& report : reports)
      if (report.failed && !report.config.json.empty() && job.is_root()) try_to_write(report);
    throw;
  }
}

/// Values of a repeated --boundary add up; of every other flag the last one counts.
std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

void add_field_flag(CLI::App& command, const Setting& field, const std::shared_ptr<SolveOptions>& options) {
  const std::string key(field.key), flag = "--" + key, help(field.help);
  if (field.metavar.empty()) {
    command.add_flag_callback(
        flag,
        [options, key, flag] {
          options->flags.push_back({key, "true", flag});
        },
        help);
  } else if (key == "boundary") {
    command
        .add_option_function<std::vector<std::string>>(
            flag,
            [options, key, flag](const std::vector<std::string>& v) {
              options->flags.push_back({key, joined(v), flag});
            },
            help)
        ->type_name(std::string(field.metavar))
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  } else {
    command
        .add_option_function<std::string>(
            flag,
            [options, key, flag](const std::string& v) {
              options->flags.push_back({key, v, flag});
            },
            help)
        ->type_name(std::string(field.metavar));
  }
}

}  // namespace

void add_solve(CLI::App& app) {
  CLI::App* command = app.add_subcommand("solve", "Solve for a quark propagator and contract it to meson correlators");
  const auto options = std::make_shared<SolveOptions>();
  command->add_option("RUN.toml", options->file, "Settings, one `key = value` for each flag below; flags override them");
  for (const Setting& field : run_settings()) add_field_flag(*command, field, options);
  command->callback([options] { run_solve(*options); });
}

}  // namespace quarkstar::app
