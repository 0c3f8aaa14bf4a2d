#include "apps/run/report.hpp"

#include "apps/run/eigen_file.hpp"
#include "quarkstar_version.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/system/topology.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace quarkstar::app {

std::string version_line() {
  return fmt::format("quarkstar {} ({}), {}, compiler {}", version, revision, runtime::runtime_version(), __VERSION__);
}

void describe_machine(RunReport& report) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  report.host = host;
  report.cpu_model = runtime::Topology::discover().cpu_model();
  report.started =
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

std::vector<std::string> gpu_bus_ids(const runtime::Session& session) {
  const std::vector<runtime::GpuDescription> present = runtime::gpus();
  std::vector<std::string> ids;
  for (int worker = 0; worker < session.gpu_count(); ++worker)
    ids.push_back(present.at(static_cast<std::size_t>(session.worker(worker).device)).pci_bus_id);
  return ids;
}

EnergyText energy_text(const ColumnReport& column) {
  const runtime::EnergyReading total = column.energy.total();
  if (!total.available()) return {"unavailable", "unavailable"};
  return {fmt::format("{:.1f}", total.joules), fmt::format("{:.3f}", column.gflops_per_watt())};
}

std::string energy_note(const ColumnReport& column) {
  std::string note = "energy:";
  for (const auto& [name, reading] : {std::pair{"CPU", &column.energy.cpu}, std::pair{"GPU", &column.energy.gpu}})
    note += fmt::format(" {} {};", name, reading->available() ? "measured" : "unavailable (" + reading->unavailable + ")");
  note.pop_back();
  return note;
}

std::string runtime_note(const RunReport& report, const ColumnReport& column) {
  std::string note = fmt::format("runtime: {:.2f} tasks and {:.1f} kernels per iteration{}", column.tasks_per_iteration(),
                                 column.kernels_per_iteration(), " and right-hand side");
  if (column.idle_us) note += fmt::format(", {:.2f} us a task outside tasks", *column.idle_us);
  if (const double bound = report.devices.bound_gflops(); bound > 0)
    note += fmt::format("; {:.1f} GFLOP/s are {:.1f} % of the parts' Dslashes alone, {:.1f}", column.gflops(),
                        100 * column.gflops() / bound, bound);
  if (column.bound && column.bound->time_over_bound > 0)
    note += fmt::format("; {:.2f} times what was possible at the workers' speeds in tasks", column.bound->time_over_bound);
  for (const ResplitReport& resplit : report.resplits)
    note += fmt::format("; cut anew after {} solves, {:.3f} s a solve before, {:.3f} s predicted, {:.3f} s charged for the change",
                        resplit.after_solves, resplit.seconds_before, resplit.seconds_predicted, resplit.migration_seconds);
  return note;
}

ActionRun action_run(const RunReport& report) {
  const RunConfig& config = report.config;
  return {.settings = config.settings,
          .boundary = config.boundary,
          .boundary_given = config.was_given("boundary"),
          .link_reals = config.solver.link_reals,
          .identify = !config.checkpoint.empty() || !config.multigrid_setup.empty() || !deflation_file(config).empty(),
          .gauge = report.gauge};
}

void take(RunConfig& config, const ActionRun& action) {
  config.settings = action.settings;
  config.boundary = action.boundary;
}

bool has_all_columns(const RunConfig& config) { return config.columns.size() == static_cast<std::size_t>(config.action->components); }

std::string correlators_left_out(const RunConfig& config) {
  return contract::left_out(contract::choose(config.action->correlators, config.correlators.names), config.source);
}

}  // namespace quarkstar::app
