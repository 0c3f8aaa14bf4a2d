#include "apps/report.hpp"

#include "codelets/contract/effective_mass.hpp"
#include "codelets/contract/meson.hpp"
#include "quarkstar_version.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/topology.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace quarkstar::app {

namespace {

/// The sites of a part, row by row, to their places in the whole field.
void copy_into(HostSpinor& whole, const HostSpinor& part) {
  const std::int64_t row = part.extents[0], rows = volume(part.extents) / row;
  for (std::int64_t i = 0; i < rows; ++i) {
    Coord site = coordinates(i * row, part.extents);
    for (int mu = 0; mu < 4; ++mu) site[mu] += part.origin[mu];
    std::copy_n(part.data.begin() + i * row * HostSpinor::components, row * HostSpinor::components,
                whole.data.begin() + lexicographic(site, whole.extents) * HostSpinor::components);
  }
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

std::vector<CorrelatorReport> contract(const Propagator& propagator, int source_time, int times) {
  std::vector<CorrelatorReport> correlators;
  for (const Meson meson : all_mesons) {
    CorrelatorReport correlator;
    correlator.name = name_of(meson);
    std::vector<runtime::BinnedSum> sums = meson_sums(meson, propagator.fields, source_time, times);
    runtime::mpi::Job::current().combine(sums);
    for (const runtime::BinnedSum& sum : sums) correlator.values.push_back(runtime::value_of(sum));
    correlator.log_mass = log_effective_mass(correlator.values);
    correlator.cosh_mass = cosh_effective_mass(correlator.values);
    correlators.push_back(std::move(correlator));
  }
  return correlators;
}

Propagator gather(const Propagator& parts, const Coord& lattice) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  if (!job.is_distributed() || parts.fields.empty()) return parts;
  const std::vector<Box> boxes = job.gather(parts.fields.front().box());
  Propagator whole;
  for (const HostSpinor& mine : parts.fields) {
    if (!job.is_root()) {
      job.send(std::as_bytes(std::span(mine.data)), 0);
      continue;
    }
    HostSpinor& field = whole.fields.emplace_back(lattice);
    for (int rank = 0; rank < job.size(); ++rank) {
      HostSpinor part = rank == 0 ? mine : HostSpinor(boxes[static_cast<std::size_t>(rank)]);
      if (rank > 0) job.receive(std::as_writable_bytes(std::span(part.data)), rank);
      copy_into(field, part);
    }
  }
  return whole;
}

}  // namespace quarkstar::app
