#include "apps/run/report.hpp"

#include "apps/run/action_kind.hpp"
#include "codelets/contract/effective_mass.hpp"
#include "codelets/contract/time_slices.hpp"
#include "quarkstar_version.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/topology.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

namespace quarkstar::app {

CorrelatorReport correlator_over_ranks(std::string name, std::vector<runtime::BinnedSum> sums) {
  runtime::mpi::Job::current().combine(sums);
  CorrelatorReport correlator;
  correlator.name = std::move(name);
  correlator.values = values_of(sums);
  correlator.log_mass = log_effective_mass(correlator.values);
  correlator.cosh_mass = cosh_effective_mass(correlator.values);
  return correlator;
}

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

std::vector<CorrelatorReport> contract(const Propagators& propagators, const RunConfig& config, int times) {
  return kind_of(config).contract(propagators, config.source, times);
}

bool has_all_columns(const RunConfig& config) { return config.columns.size() == static_cast<std::size_t>(kind_of(config).components); }

std::string correlators_left_out(const RunConfig& config) { return kind_of(config).correlators_left_out(config.source); }

}  // namespace quarkstar::app
