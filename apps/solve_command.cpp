// quarkstar solve [RUN.toml]
#include "apps/commands.hpp"
#include "apps/gauge_io.hpp"
#include "apps/outputs.hpp"
#include "apps/print_tables.hpp"
#include "apps/solve_run.hpp"
#include "apps/staggered_run.hpp"
#include "runtime/error.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>

namespace quarkstar::app {
namespace {

struct SolveOptions {
  std::string file;
  std::vector<Assignment> flags;
};

LoadedGauge load(const RunConfig& config) {
  LoadedGauge loaded = load_gauge(config.gauge, config.lattice);
  if (config.reunitarize) gauge::reunitarize(loaded.gauge, host_team());
  check_source(config.source, loaded.gauge.extents);
  return loaded;
}

/// A failed solve leaves a JSON behind, for scripts that want to know how it failed, and nothing else.
template <class Solve>
auto solve_or_report(const HostGauge& gauge, RunReport& report, Solve&& solve) {
  try {
    return solve(gauge, report.config, report, print_plan);
  } catch (const Error&) {
    if (report.failed && !report.config.json.empty()) write_json_file(report.config.json, report);
    throw;
  }
}

/// Contracts where all columns are there, prints, and writes the files of the folder.
template <class Fields>
void finish(RunReport& report, const OutputFolder& folder, const Fields& propagator, bool complete, std::chrono::steady_clock::time_point start) {
  if (complete) report.correlators = contract(propagator, report.config.source.time());
  report.total_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  print_report(report);
  if (!folder.wanted()) return;
  for (const std::string& path : write_outputs(folder, report, propagator)) fmt::print("wrote {}\n", path);
  if (!complete)
    fmt::print("not written: {}correlators.h5, which need all {} columns\n", report.config.is_staggered() ? "" : "propagator.lime and ",
               report.config.is_staggered() ? 3 : 12);
}

void run_solve(const SolveOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  RunReport report;
  if (!options.file.empty()) apply_settings(report.config, read_toml(options.file));
  apply_settings(report.config, options.flags);
  complete(report.config);
  const RunConfig& config = report.config;
  check_complete(config);
  const OutputFolder folder(config.out);
  check_writable(config.json);
  check_writable(config.trace);

  describe_machine(report);
  const LoadedGauge loaded = load(config);
  report.gauge = loaded.summary();
  if (config.is_staggered()) {
    const auto propagators = solve_or_report(loaded.gauge, report, solve_staggered);
    finish(report, folder, propagators, config.columns.size() == HostColour::components, start);
  } else {
    const Propagator propagator = solve_or_report(loaded.gauge, report, solve_columns);
    finish(report, folder, propagator, propagator.fields.size() == HostSpinor::components, start);
  }
  if (!config.json.empty()) {
    write_json_file(config.json, report);
    fmt::print("wrote {}\n", config.json);
  }
}

/// Values of a repeated --boundary add up; of every other flag the last one counts.
std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

void add_field_flag(CLI::App& command, const Field& field, const std::shared_ptr<SolveOptions>& options) {
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
  command->add_option("RUN.toml", options->file,
                      "Settings, one `key = value` for each flag below; flags override them");
  for (const Field& field : run_fields()) add_field_flag(*command, field, options);
  command->callback([options] { run_solve(*options); });
}

}  // namespace quarkstar::app
