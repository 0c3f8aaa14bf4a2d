// quarkstar run CAMPAIGN.toml
#include "apps/campaign/run.hpp"
#include "apps/command/commands.hpp"
#include "apps/command/interrupt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>
#include <string>

namespace quarkstar::app {
namespace {

struct RunOptions {
  std::string file;
  Assignments flags = std::make_shared<std::vector<Assignment>>();
  campaign::Options options;
};

void run_campaign(const RunOptions& options) {
  CommandWatch watch;
  campaign::Listener listener;
  listener.planned = [](const campaign::CampaignPlan& plan) {
    fmt::print("{}", text_of(plan));
    std::fflush(stdout);
  };
  listener.done = [](const std::string& configuration, int rows, double seconds) {
    fmt::print("{}: {} rows in {}\n", configuration, rows, campaign::duration_text(seconds));
    std::fflush(stdout);
  };
  listener.failed = [](const campaign::Failure& failure) {
    fmt::print("{} failed: {}\n", failure.name(), failure.reason);
    std::fflush(stdout);
  };
  listener.spent = [](const campaign::TimeSpent& spent) { fmt::print("{}", text_of(spent)); };
  listener.written = [](const std::vector<std::string>& files) { fmt::print("wrote {}\n", fmt::join(files, "\nwrote ")); };
  run(campaign::read_campaign(options.file, *options.flags), options.options, watch, listener);
}

}  // namespace

void add_run(CLI::App& app) {
  CLI::App* command = app.add_subcommand("run", "Run a campaign: configurations x quarks x sources to correlators, averages and a report");
  const auto options = std::make_shared<RunOptions>();
  command->add_option("CAMPAIGN.toml", options->file, "What to compute (docs/howto/campaign.md)")->required();
  command->add_flag("--dry-run", options->options.dry_run, "Print what would be done, its memory, disk and time, and do nothing");
  command->add_flag("--stop-on-error", options->options.stop_on_error, "End with the first configuration or row that fails");
  for (const Setting& setting : run_settings())
    if (setting.key == "out" || campaign::is_of_whole_campaign(setting.key)) add_setting_flag(*command, setting, options->flags);
  command->callback([options] { run_campaign(*options); });
}

}  // namespace quarkstar::app
