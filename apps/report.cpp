#include "apps/report.hpp"

#include "codelets/contract/effective_mass.hpp"
#include "codelets/contract/meson.hpp"
#include "codelets/contract/staggered_meson.hpp"
#include "quarkstar_version.hpp"
#include "runtime/cuda.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/topology.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

namespace quarkstar::app {

namespace {

/// The sites of a part, row by row, to their places in the whole field.
template <class Field>
void copy_into(Field& whole, const Field& part) {
  const std::int64_t row = part.extents[0], rows = volume(part.extents) / row;
  for (std::int64_t i = 0; i < rows; ++i) {
    Coord site = coordinates(i * row, part.extents);
    for (int mu = 0; mu < 4; ++mu) site[mu] += part.origin[mu];
    std::copy_n(part.data.begin() + i * row * Field::components, row * Field::components,
                whole.data.begin() + lexicographic(site, whole.extents) * Field::components);
  }
}

/// The whole fields on the root of several ranks; nothing on the others.
template <class Field>
std::vector<Field> gathered(const std::vector<Field>& parts, const Coord& lattice) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  std::vector<Field> whole;
  if (parts.empty()) return whole;
  const std::vector<Box> boxes = job.gather(parts.front().box());
  for (const Field& mine : parts) {
    if (!job.is_root()) {
      job.send(std::as_bytes(std::span(mine.data)), 0);
      continue;
    }
    Field& field = whole.emplace_back(lattice);
    for (int rank = 0; rank < job.size(); ++rank) {
      Field part = rank == 0 ? mine : Field(boxes[static_cast<std::size_t>(rank)]);
      if (rank > 0) job.receive(std::as_writable_bytes(std::span(part.data)), rank);
      copy_into(field, part);
    }
  }
  return whole;
}

/// A correlator from this rank's share of it.
CorrelatorReport correlator_of(std::string name, std::vector<runtime::BinnedSum> sums) {
  runtime::mpi::Job::current().combine(sums);
  CorrelatorReport correlator;
  correlator.name = std::move(name);
  for (const runtime::BinnedSum& sum : sums) correlator.values.push_back(runtime::value_of(sum));
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
  report.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                               fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
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
  std::string note = fmt::format("runtime: {:.1f} tasks an iteration{}", column.tasks_per_iteration(), column.mass ? " and right-hand side" : "");
  if (column.idle_us) note += fmt::format(", {:.2f} us a task outside kernels", *column.idle_us);
  if (const double bound = report.devices.bound_gflops(); bound > 0)
    note += fmt::format("; {:.1f} GFLOP/s are {:.1f} % of the parts' Dslashes alone, {:.1f}", column.gflops(), 100 * column.gflops() / bound, bound);
  return note;
}

std::vector<CorrelatorReport> contract(const Propagator& propagator, int source_time, int times) {
  std::vector<CorrelatorReport> correlators;
  for (const Meson meson : all_mesons)
    correlators.push_back(correlator_of(std::string(name_of(meson)), meson_sums(meson, propagator.fields, source_time, times)));
  return correlators;
}

std::vector<CorrelatorReport> contract(const std::vector<StaggeredPropagator>& propagators, int source_time, int times) {
  std::vector<CorrelatorReport> correlators;
  for (const StaggeredPropagator& propagator : propagators) {
    if (propagator.columns.size() != HostColour::components) continue;
    const std::string suffix = propagators.size() > 1 ? fmt::format("_m{}", propagator.mass) : "";
    for (const StaggeredMeson meson : all_staggered_mesons)
      correlators.push_back(correlator_of(std::string(name_of(meson)) + suffix, staggered_sums(meson, propagator.columns, source_time, times)));
  }
  return correlators;
}

Propagator gather(const Propagator& parts, const Coord& lattice) {
  if (!runtime::mpi::Job::current().is_distributed()) return parts;
  return {gathered(parts.fields, lattice)};
}

std::vector<StaggeredPropagator> gather(const std::vector<StaggeredPropagator>& parts, const Coord& lattice) {
  if (!runtime::mpi::Job::current().is_distributed()) return parts;
  std::vector<StaggeredPropagator> whole;
  for (const StaggeredPropagator& part : parts) whole.push_back({part.mass, part.naik_epsilon, gathered(part.columns, lattice)});
  return whole;
}

}  // namespace quarkstar::app
