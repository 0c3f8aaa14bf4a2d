#include "apps/run/report.hpp"

#include "codelets/contract/effective_mass.hpp"
#include "codelets/contract/meson.hpp"
#include "codelets/contract/staggered_meson.hpp"
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

namespace {

/// A correlator from this rank's share of it.
CorrelatorReport correlator_of(std::string name, std::vector<runtime::BinnedSum> sums) {
  runtime::mpi::Job::current().combine(sums);
  CorrelatorReport correlator;
  correlator.name = std::move(name);
  correlator.values = values_of(sums);
  correlator.log_mass = log_effective_mass(correlator.values);
  correlator.cosh_mass = cosh_effective_mass(correlator.values);
  return correlator;
}

}  // namespace

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
  std::string note = fmt::format("runtime: {:.2f} tasks and {:.1f} kernels an iteration{}", column.tasks_per_iteration(),
                                 column.kernels_per_iteration(), column.mass ? " and right-hand side" : "");
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

std::vector<CorrelatorReport> contract(const Propagator& propagator, const Source& source, int times) {
  std::vector<CorrelatorReport> correlators;
  for (const Meson meson : all_mesons)
    correlators.push_back(correlator_of(std::string(name_of(meson)), meson_sums(meson, propagator.fields, source.time(), times)));
  return correlators;
}

namespace {

/// The phases of sinks are told from those of their source: a point, or corners of hypercubes.
bool has_all_mesons(const Source& source) { return source.kind == Source::Kind::point || source.kind == Source::Kind::corner_wall; }

}  // namespace

std::string correlators_left_out(const RunConfig& config) {
  if (!config.is_staggered() || has_all_mesons(config.source)) return "";
  std::vector<std::string_view> names;
  for (const StaggeredMeson meson : all_staggered_mesons)
    if (meson != StaggeredMeson::pion5) names.push_back(name_of(meson));
  return fmt::format("{}: {} has no phases of its own; use a point or corner-wall source", fmt::join(names, ", "), text_of(config.source));
}

std::vector<CorrelatorReport> contract(const StaggeredPropagators& propagators, const Source& source, int times) {
  std::vector<CorrelatorReport> correlators;
  for (const StaggeredPropagator& propagator : propagators) {
    if (propagator.columns.size() != colour_components) continue;
    const std::string suffix = propagators.size() > 1 ? fmt::format("_m{}", propagator.mass) : "";
    for (const StaggeredMeson meson : all_staggered_mesons)
      if (meson == StaggeredMeson::pion5 || has_all_mesons(source))
        correlators.push_back(
            correlator_of(std::string(name_of(meson)) + suffix, staggered_sums(meson, propagator.columns, source.position, times)));
  }
  return correlators;
}

}  // namespace quarkstar::app
