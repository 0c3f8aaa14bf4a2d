// quarkstar run CAMPAIGN.toml
#include "apps/campaign/helper.hpp"
#include "apps/campaign/run.hpp"
#include "apps/command/commands.hpp"
#include "apps/command/interrupt.hpp"
#include "apps/command/own_executable.hpp"
#include "runtime/system/begin_anew.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarkstar::app {
namespace {

struct RunOptions {
  std::string file;
  Assignments flags = std::make_shared<std::vector<Assignment>>();
  campaign::Options options;
  std::vector<std::pair<std::string, std::string>> lost,
      left;  ///< names of devices and reasons; settings without them, the last one counts
};

/// What starts this campaign again, without its folder and what says who computes it.
std::vector<std::string> command_of(const RunOptions& options) {
  std::vector<std::string> command{own_executable, "run", options.file};
  for (const Assignment& flag : *options.flags) {
    constexpr std::string_view own[] = {"out", "helper", "devices", "gpus", "share"};
    if (std::find(std::begin(own), std::end(own), flag.key) != std::end(own)) continue;
    const bool is_switch = find_setting(flag.key)->metavar.empty();
    command.push_back(is_switch ? "--" + flag.key : fmt::format("--{}={}", flag.key, flag.value));
  }
  return command;
}

/// A helper ends with the campaign that has started it, and does not keep that from its work. Where that begins anew before the helper asks
/// for the signal, it ends when it prints its plan, which nobody reads any more.
void become_helper() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)::nice(10);
}

/// On whichever thread has met the failure.
campaign::GoOnWithout begin_anew() {
  return [anew = runtime::BeginAnew()](const campaign::LostDevice& lost, const campaign::DevicesLeft& left) {
    spdlog::warn("{} has failed: {}; the campaign goes on without it", lost.name, lost.reason);
    std::vector<std::string> variables;
    if (left.visible_gpus) variables.push_back("CUDA_VISIBLE_DEVICES=" + *left.visible_gpus);
    anew.with({"--lost", lost.name, lost.reason, "--left", left.setting.key, left.setting.value}, variables);
  };
}

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
  campaign::Options chosen = options.options;
  for (const auto& [key, value] : options.left) {
    if (key != "devices" && key != "gpus" && key != "workers")
      throw Error(ErrorKind::input, "--left", key + " names no devices", "leave it to the program");
    options.flags->push_back({key, value, "--" + key});  // behind those of the command line
  }
  campaign::Campaign what = campaign::read_campaign(options.file, *options.flags);
  if (chosen.helper_of.empty()) {
    chosen.command = command_of(options);
    chosen.go_on_without = begin_anew();
    for (const auto& [name, reason] : options.lost) {
      chosen.lost.push_back({name, reason});
      fmt::print("without {}, which has failed: {}\n", name, reason);
    }
    if (!chosen.lost.empty()) use_what_is_left(what);
  } else {
    become_helper();
    use_own_workers(what);
  }
  run(what, chosen, watch, listener);
}

}  // namespace

void add_run(CLI::App& app) {
  CLI::App* command = app.add_subcommand("run", "Run a campaign: configurations x quarks x sources to correlators, averages and a report");
  const auto options = std::make_shared<RunOptions>();
  command->add_option("CAMPAIGN.toml", options->file, "What to compute (docs/howto/campaign.md)")->required();
  command->add_flag("--dry-run", options->options.dry_run, "Print what would be done, its memory, disk and time, and do nothing");
  command->add_flag("--stop-on-error", options->options.stop_on_error, "End with the first configuration or row that fails");
  command
      ->add_option_function<std::string>(
          "--helper",
          [options](const std::string& cores) {
            options->flags->push_back({"helper", cores, "--helper"});
          },
          "Cores of a second process that computes rows from the last one back; 0: none (default: auto, with --devices all those that GPUs "
          "leave idle)")
      ->type_name("auto|N");
  command->add_option("--helper-of", options->options.helper_of)->group("");  // what a campaign starts its helper with
  // What a campaign begins itself anew with.
  command->add_option("--lost", options->lost)->group("")->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--left", options->left)->group("")->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  for (const Setting& setting : run_settings())
    if (setting.key == "out" || campaign::is_of_whole_campaign(setting.key)) add_setting_flag(*command, setting, options->flags);
  command->callback([options] { run_campaign(*options); });
}

}  // namespace quarkstar::app
