#include "apps/run/gauge_io.hpp"

#include "apps/run/rank_plan.hpp"
#include "codelets/io/gauge_part.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace quarkstar::app {
namespace {

void check_stored(const std::string& path, const char* name, const std::optional<format::StoredObservable>& stored, double computed) {
  if (!stored || std::abs(stored->value - computed) <= stored->tolerance) return;
  throw Error(ErrorKind::input, path, fmt::format("the links have {} {:.12f}, the header states {:.12f}", name, computed, stored->value),
              "the file is damaged or was written wrongly: get another copy");
}

int real_bytes_of(const SaveOptions& options) {
  const bool milc = options.format == "milc";
  if (milc && options.precision == "double")
    throw Error(ErrorKind::input, Parameter("precision"), "MILC files are single precision only",
                "use --precision single, or --format ildg");
  return milc || options.precision == "single" ? 4 : 8;
}

format::GaugeFormat parse_format(const std::string& name) {
  if (name == "nersc") return format::GaugeFormat::nersc;
  if (name == "ildg") return format::GaugeFormat::ildg;
  return format::GaugeFormat::milc_v5;
}

/// Measures the links of a part, or of all, and compares with the header.
LoadedGauge measured(format::GaugeRead read, const Coord& lattice, const Box& part, const runtime::Team& team) {
  LoadedGauge loaded{std::move(read.gauge), std::move(read.info), {lattice, part}};
  const gauge::LinkSums all = sums_over_ranks(loaded.gauge, lattice, part, team);
  loaded.plaquettes = all.plaquettes(lattice);
  loaded.link_trace = all.link_trace(lattice);
  loaded.place_sum = place_sum_over_ranks(loaded.gauge, lattice, part, team);
  check_stored(loaded.info.path, "plaquette", loaded.info.plaquette, loaded.plaquettes.mean());
  check_stored(loaded.info.path, "link trace", loaded.info.link_trace, loaded.link_trace);
  return loaded;
}

}  // namespace

runtime::Team host_team() {
  const runtime::Topology topology = runtime::Topology::discover();
  const runtime::mpi::Job::Share share = runtime::mpi::Job::current().share_of_cores(topology.all_cores());
  return runtime::Team(topology.share(share.index, share.count).all_cores());
}

std::string extents_text(const Coord& extents) { return fmt::format("{}", fmt::join(extents, "x")); }

GaugeSummary LoadedGauge::summary() const {
  return {info.path, format::to_string(info.format), info.layout.extents, plaquettes.spatial, plaquettes.temporal, link_trace, place_sum};
}

gauge::LinkSums sums_over_ranks(const HostGauge& gauge, const Coord& lattice, const Box& part, const runtime::Team& team) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  std::array<runtime::BinnedSum, 3> sums;
  job.together([&] {
    const gauge::LinkSums mine = gauge::link_sums(gauge, lattice, part, team);
    sums = {mine.spatial, mine.temporal, mine.trace};
  });
  if (part.extents != lattice) job.combine(sums);  // ranks that each have all have all sums
  return {sums[0], sums[1], sums[2]};
}

double place_sum_over_ranks(const HostGauge& gauge, const Coord& lattice, const Box& part, const runtime::Team& team) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  std::array<runtime::BinnedSum, 1> sum;
  job.together([&] { sum[0] = gauge::place_sum(gauge, lattice, part, team); });
  if (part.extents != lattice) job.combine(sum);
  return runtime::value_of(sum[0]);
}

LoadedGauge load_gauge(const std::string& path, const std::optional<Coord>& lattice, const runtime::Team& team) {
  format::GaugeReadOptions options;
  options.extents = lattice;
  format::GaugeRead read = format::read_gauge(path, options, team);
  const Coord extents = read.gauge.extents;
  return measured(std::move(read), extents, {{}, extents}, team);
}

LoadedGauge load_gauge(const std::string& path, const std::optional<Coord>& lattice) { return load_gauge(path, lattice, host_team()); }

LoadedGauge load_gauge_part(const std::string& path, const std::optional<Coord>& lattice, const runtime::Decomposition& decomposition,
                            const runtime::Team& team) {
  format::GaugeReadOptions options;
  options.extents = lattice;
  return measured(format::read_gauge_part(path, options, decomposition), decomposition.lattice(), decomposition.part(), team);
}

LoadedGauge load_gauge_of_rank(const std::string& path, const std::optional<Coord>& lattice, const std::optional<Coord>& ranks,
                               int thinnest) {
  Coord extents{};
  runtime::mpi::Job::current().together([&] { extents = gauge_extents(path, lattice); });
  const runtime::Decomposition parts = parts_of_links(extents, ranks, thinnest);
  return parts.is_distributed() ? load_gauge_part(path, lattice, parts) : load_gauge(path, lattice);
}

Coord gauge_extents(const std::string& path, const std::optional<Coord>& lattice) {
  format::GaugeReadOptions options;
  options.extents = lattice;
  return format::GaugeFile(path, options).info().layout.extents;
}

const std::vector<std::string>& output_formats() {
  static const std::vector<std::string> names{"nersc", "ildg", "milc"};
  return names;
}

void save_gauge(const std::string& path, const HostGauge& gauge, const SaveOptions& options, const std::optional<format::GaugePart>& part,
                const runtime::Team& team) {
  format::GaugeWriteOptions write;
  write.real_bytes = real_bytes_of(options);
  const Coord lattice = part ? part->lattice : gauge.extents;
  const gauge::LinkSums sums = sums_over_ranks(gauge, lattice, part ? part->sites : gauge.box(), team);
  write.plaquette = sums.plaquettes(lattice).mean();
  write.link_trace = sums.link_trace(lattice);
  write.part = part;
  write.ensemble_label = options.label;
  write.sequence_number = options.sequence_number;
  format::write_gauge(path, parse_format(options.format), gauge, write);
}

}  // namespace quarkstar::app
