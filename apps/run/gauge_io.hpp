#pragma once
// Gauge configurations between files and memory, measured on the way.
#include "apps/run/report.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/gauge/observables.hpp"
#include "codelets/io/gauge_file.hpp"
#include "codelets/io/gauge_writer.hpp"
#include "runtime/cut/decomposition.hpp"

#include <optional>
#include <string>

namespace quarkstar::app {

/// All cores of this machine as one team, for work outside of a session; ranks of a host that may use the same cores divide them, as
/// sessions do. Collective.
runtime::Team host_team();

struct LoadedGauge {
  HostGauge gauge;
  format::GaugeFileInfo info;
  format::GaugePart part;          ///< of this rank; gauge has the layer around it too
  gauge::Plaquettes plaquettes{};  ///< of the links as stored
  double link_trace = 0, place_sum = 0;

  GaugeSummary summary() const;  ///< of the whole configuration
};

/// Reads a configuration with its checksums verified, and measures it. lattice: extents of a bare LIME file.
/// Throws Error(input) as read_gauge does, and where the header states another plaquette or link trace than the links
/// have. team: reads and measures.
/// Under MPI every rank that calls reads all of it.
LoadedGauge load_gauge(const std::string& path, const std::optional<Coord>& lattice, const runtime::Team& team);
LoadedGauge load_gauge(const std::string& path, const std::optional<Coord>& lattice = {});

/// The same for this rank's part of the configuration and the layer around it. Collective.
LoadedGauge load_gauge_part(const std::string& path, const std::optional<Coord>& lattice, const runtime::Decomposition& decomposition,
                            const runtime::Team& team = host_team());

/// This rank's part of a configuration as parts_of_links() cuts it. Collective.
LoadedGauge load_gauge_of_rank(const std::string& path, const std::optional<Coord>& lattice, const std::optional<Coord>& ranks,
                               int thinnest = 1);

/// Extents of a configuration, from its header. Throws as load_gauge() does.
Coord gauge_extents(const std::string& path, const std::optional<Coord>& lattice = {});

/// The sums over the links of a part of the lattice, which `gauge` holds with the layer around it, and over the ranks that have the others.
/// Collective.
gauge::LinkSums sums_over_ranks(const HostGauge& gauge, const Coord& lattice, const Box& part, const runtime::Team& team);
double place_sum_over_ranks(const HostGauge& gauge, const Coord& lattice, const Box& part, const runtime::Team& team);

/// Names that --format takes.
const std::vector<std::string>& output_formats();

struct SaveOptions {
  std::string format = "nersc";  ///< of output_formats()
  std::string precision;         ///< "single", "double", or empty: double, but single for milc, which knows nothing else
  std::string label = "unspecified";
  std::int64_t sequence_number = 0;
};

/// Writes a configuration. Throws Error(input) naming --format or --precision, and what the writer throws. part: on many ranks, what this
/// one writes; `gauge` holds it and the layers around it. Collective then. team: measures.
void save_gauge(const std::string& path, const HostGauge& gauge, const SaveOptions& options,
                const std::optional<format::GaugePart>& part = {}, const runtime::Team& team = host_team());

/// "4x4x4x8"
std::string extents_text(const Coord& extents);

}  // namespace quarkstar::app
