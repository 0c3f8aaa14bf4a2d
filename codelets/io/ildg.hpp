#pragma once
// Gauge configurations in LIME files, as ILDG and SciDAC (QIO) write them.
#include "codelets/io/gauge_info.hpp"

namespace quarkstar::format {

/// Reads all records but the data. The links are in ildg-binary-data, else in the first scidac-binary-data; big-endian.
/// Extents come from ildg-format and scidac-private-file-xml (which must agree), precision from ildg-format and
/// scidac-private-record-xml (which must agree). What no record states is worked out and noted: the precision from the
/// length of the data or from the norm of the first link's rows; the extents as those of a hypercube, unless
/// `extents_hint` is given. A file with scidac-private-record-xml always has a checksum; plain ILDG files may have
/// none. Throws Error(input) naming the record and its offset. Source: ILDG's binary file format 1.0 and QIO's API
/// document 2.3.
GaugeFileInfo parse_lime_gauge(const ByteSource& source, const std::optional<Coord>& extents_hint);

}  // namespace quarkstar::format
