// quarkstar solve [RUN.toml]
#include "apps/command/commands.hpp"
#include "apps/command/interrupt.hpp"
#include "apps/command/print_tables.hpp"
#include "apps/run/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace quarkstar::app {
namespace {

struct SolveOptions {
  std::string file;
  Assignments flags = std::make_shared<std::vector<Assignment>>();
};

/// Prints the names of the files that hold a source's results.
void print_files(const RunReport& report, const std::vector<std::string>& written) {
  if (!written.empty()) {
    fmt::print("wrote {}\n", fmt::join(written, "\nwrote "));
    const std::vector<std::string>& formats = report.config.propagator_files;
    const bool wants_scidac = std::find(formats.begin(), formats.end(), "scidac") != formats.end();
    if (const int all = report.config.action->components; !has_all_columns(report.config))
      fmt::print("not written: {}correlators.h5, which need{} all {} columns\n", wants_scidac ? "propagator.lime and " : "",
                 wants_scidac ? "" : "s", all);
  }
  if (!report.config.json.empty()) fmt::print("wrote {}\n", report.config.json);
}

void run_solve(const SolveOptions& options) {
  RunConfig config;
  if (!options.file.empty()) apply_settings(config, read_toml(options.file));
  apply_settings(config, *options.flags);
  CommandWatch watch;
  run(std::move(config), watch, {.planned = print_plan, .solved = print_report, .written = print_files});
}

}  // namespace

void add_solve(CLI::App& app) {
  CLI::App* command = app.add_subcommand("solve", "Solve for a quark propagator and contract it to meson correlators");
  const auto options = std::make_shared<SolveOptions>();
  command->add_option("RUN.toml", options->file, "Settings, one `key = value` for each flag below; flags override them");
  for (const Setting& field : run_settings()) add_setting_flag(*command, field, options->flags);
  command->callback([options] { run_solve(*options); });
}

}  // namespace quarkstar::app
