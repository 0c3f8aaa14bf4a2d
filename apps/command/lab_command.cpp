// quarkstar lab [RUN.toml]: the same solve under many settings
#include "apps/command/commands.hpp"
#include "apps/lab/history_check.hpp"
#include "apps/lab/page.hpp"
#include "apps/lab/run.hpp"
#include "apps/lab/simulation_check.hpp"
#include "apps/lab/summary.hpp"
#include "runtime/system/atomic_file.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace quarkstar::app {
namespace {

/// Axes with a flag of their own; --vary names any other.
constexpr std::pair<const char*, const char*> axis_flags[] = {
    {"policy", "Scheduling policies"},
    {"blocks", "Cuts into blocks, X,Y,Z,T each"},
    {"devices", "Devices: cpu, cuda, all, or numbers of GPUs"},
    {"nrhs", "Right-hand sides solved together"},
    {"precision", "half, single, double"},
    {"action", "Fermion actions"},
    {"solver", "Krylov solvers"},
    {"lattice", "Extents of configurations that are made, X,Y,Z,T each"},
    {"machine", "here, or names of simulated machines"},
};

struct LabOptions {
  std::string file;
  std::vector<std::pair<std::string, std::string>> fields;  ///< of Plan
  std::vector<lab::Axis> axes;
  std::vector<Assignment> fixed;
};

Assignment split_setting(const std::string& flag, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    throw Error(ErrorKind::input, flag, fmt::format("'{}' is no KEY=VALUE", text), "write it as kappa=0.12");
  return {text.substr(0, equals), text.substr(equals + 1), fmt::format("{} {}", flag, text.substr(0, equals))};
}

lab::Axis& axis_of(std::vector<lab::Axis>& axes, const std::string& key, const std::string& where) {
  const auto known = std::find_if(axes.begin(), axes.end(), [&](const lab::Axis& axis) { return axis.key == key; });
  return known != axes.end() ? *known : axes.emplace_back(lab::Axis{key, {}, where});
}

/// Flags override the file, key by key.
lab::Plan plan_of(const LabOptions& options) {
  lab::Plan plan;
  if (!options.file.empty()) plan = lab::read_plan(options.file);
  for (const auto& [key, value] : options.fields) lab::set_field(plan, key, value, "--" + key);
  for (const lab::Axis& axis : options.axes) {
    std::erase_if(plan.fixed, [&](const Assignment& setting) { return setting.key == axis.key; });
    axis_of(plan.axes, axis.key, axis.where) = axis;
  }
  for (const Assignment& setting : options.fixed) {
    std::erase_if(plan.axes, [&](const lab::Axis& axis) { return axis.key == setting.key; });
    std::erase_if(plan.fixed, [&](const Assignment& known) { return known.key == setting.key; });
    plan.fixed.push_back(setting);
  }
  return plan;
}

void write(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.append(text);
  file.commit();
  fmt::print("wrote {}\n", path);
}

void run_lab(const LabOptions& options) {
  const lab::Plan plan = plan_of(options);
  const lab::Outcome outcome = lab::run(plan);
  const std::vector<lab::CellSummary> cells = lab::summarise(outcome);
  const lab::HistoryCheck histories = lab::compare_histories(outcome.records);
  lab::print_summary(cells);
  fmt::print("\n{}\n", histories.text());
  const std::vector<lab::SimulationCheck> simulated = lab::compare_simulated(cells);
  for (const lab::SimulationCheck& check : simulated) fmt::print("\n{}", check.table());
  fmt::print("wrote {}/runs.jsonl\n", plan.out);
  write(plan.out + "/report.html", lab::page(plan, outcome, cells, histories));
  if (!simulated.empty()) write(plan.out + "/simulation.md", lab::simulation_report(simulated, plan));
  if (!histories.disagreements.empty())
    throw Error(ErrorKind::numerical, plan.out + "/runs.jsonl", histories.text(),
                "this is a defect: no schedule may change a bit; please report it with both command lines");
  const auto failed = std::count_if(outcome.records.begin(), outcome.records.end(), [](const lab::Record& record) { return !record.ok(); });
  if (failed == static_cast<std::ptrdiff_t>(outcome.records.size()))
    throw Error(ErrorKind::numerical, plan.out + "/runs.jsonl",
                fmt::format("all {} runs failed: {}", failed, outcome.records.front().message), "see the messages in the report");
  if (failed > 0) fmt::print("{} of {} runs failed: {}\n", failed, outcome.records.size(), "see the report");
}

}  // namespace

void add_lab(CLI::App& app) {
  CLI::App* command = app.add_subcommand("lab", "The same solve under many policies, cuts, devices and precisions: a table and a report");
  const auto options = std::make_shared<LabOptions>();
  command->add_option("RUN.toml", options->file, "A plan (docs/howto/laboratory.md); flags override it");
  for (const lab::PlanField& field : lab::plan_fields()) {
    const std::string key(field.key), flag = "--" + key, help(field.help);
    if (field.metavar.empty()) {
      command->add_flag_callback(
          flag, [options, key] { options->fields.emplace_back(key, "true"); }, help);
    } else {
      command
          ->add_option_function<std::string>(
              flag, [options, key](const std::string& value) { options->fields.emplace_back(key, value); }, help)
          ->type_name(std::string(field.metavar));
    }
  }
  for (const auto& [name, help] : axis_flags) {
    const std::string key = name, flag = "--" + key;
    command
        ->add_option_function<std::vector<std::string>>(
            flag,
            [options, key, flag](const std::vector<std::string>& values) {
              options->axes.push_back({key, values, flag});
            },
            help)
        ->type_name("VALUE...");
  }
  command
      ->add_option_function<std::vector<std::string>>(
          "--vary",
          [options](const std::vector<std::string>& values) {
            for (const std::string& value : values) {
              const Assignment setting = split_setting("--vary", value);
              axis_of(options->axes, setting.key, setting.where).values.push_back(setting.value);
            }
          },
          "Any other setting of solve that varies, a value at a time: kappa=0.12 kappa=0.13")
      ->type_name("KEY=VALUE...");
  command
      ->add_option_function<std::vector<std::string>>(
          "--set",
          [options](const std::vector<std::string>& values) {
            for (const std::string& value : values) options->fixed.push_back(split_setting("--set", value));
          },
          "Settings of every run: kappa=0.12 tol=1e-8")
      ->type_name("KEY=VALUE...");
  command->callback([options] { run_lab(*options); });
}

}  // namespace quarkstar::app
