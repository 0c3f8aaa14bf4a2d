#pragma once
// Writing gauge configurations for other codes to read.
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/io/gauge_info.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace quarkstar::format {

/// A rank's share of a configuration.
struct GaugePart {
  Coord lattice{};
  Box sites;  ///< that this rank writes
};

/// What a header says beyond the links. Texts go into one header line each and may not contain line ends.
struct GaugeWriteOptions {
  int real_bytes = 8;  ///< 4 (IEEE single) or 8 (IEEE double)
  int rows = 3;        ///< NERSC only: 2 leaves out the third row

  std::optional<double> plaquette;   ///< mean Re tr / 3 over all planes; NERSC needs it
  std::optional<double> link_trace;  ///< mean Re tr / 3; NERSC needs it

  std::string ensemble_id = "unspecified";
  std::string ensemble_label = "unspecified";
  std::int64_t sequence_number = 0;
  std::string creator = "quarkstar";
  std::string creator_hardware = "unspecified";
  std::string date;  ///< as from utc_date(); empty: now
  std::string lfn;   ///< ILDG only: logical file name; empty: no such record
  std::string info;  ///< ILDG only: free text for scidac-record-xml

  std::optional<GaugePart> part;  ///< on many ranks, each with links of its own; none: gauge is the whole lattice
};

// All writers: the file appears under its name only once it is complete (AtomicFile); memory is a few dozen MiB beside the
// links; checksums are computed from the bytes written. On several ranks they are collective: the root writes the header, every rank its
// part, checksums are combined, and the file has the bytes that one rank writes. Throws Error(input) for links that are not finite in the
// chosen precision and for options that the format cannot express, ShapeError if gauge.data does not match gauge.extents, and what
// AtomicFile throws.

/// NERSC archive, big-endian, with 4D_SU3_GAUGE (2 rows) or 4D_SU3_GAUGE_3x3. With two rows, Error(input) names the
/// first link whose third row is not conj(row 0 x row 1) to 1e-5: it would be lost.
void write_nersc(const std::string& path, const HostGauge& gauge, const GaugeWriteOptions& options);

/// ILDG file with all records that QIO expects: scidac-private-file-xml, scidac-file-xml, scidac-private-record-xml,
/// scidac-record-xml, ildg-format, [ildg-data-lfn], ildg-binary-data, scidac-checksum.
void write_ildg(const std::string& path, const HostGauge& gauge, const GaugeWriteOptions& options);

/// MILC version 5, little-endian. The format is single precision only: real_bytes must be 4.
void write_milc(const std::string& path, const HostGauge& gauge, const GaugeWriteOptions& options);

/// One of the above. Error(input) for a format that is only read.
void write_gauge(const std::string& path, GaugeFormat format, const HostGauge& gauge, const GaugeWriteOptions& options);

}  // namespace quarkstar::format
