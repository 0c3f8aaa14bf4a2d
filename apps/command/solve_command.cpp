// quarkstar solve [RUN.toml]
#include "apps/command/commands.hpp"
#include "apps/command/interrupt.hpp"
#include "apps/command/print_tables.hpp"
#include "apps/run/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <vector>

namespace quarkstar::app {
namespace {

struct SolveOptions {
  std::string file;
  std::vector<Assignment> flags;
};

/// Prints the names of the files that hold a source's results.
void print_files(const RunReport& report, const std::vector<std::string>& written) {
  if (!written.empty()) {
    fmt::print("wrote {}\n", fmt::join(written, "\nwrote "));
    if (const int all = report.config.action->components; !has_all_columns(report.config))
      fmt::print("not written: {}correlators.h5, which need all {} columns\n", all == spinor_components ? "propagator.lime and " : "", all);
  }
  if (!report.config.json.empty()) fmt::print("wrote {}\n", report.config.json);
}

void run_solve(const SolveOptions& options) {
  RunConfig config;
  if (!options.file.empty()) apply_settings(config, read_toml(options.file));
  apply_settings(config, options.flags);
  CommandWatch watch;
  run(std::move(config), watch, {.planned = print_plan, .solved = print_report, .written = print_files});
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
