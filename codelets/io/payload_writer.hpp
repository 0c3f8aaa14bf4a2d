#pragma once
// The part that all gauge writers share: links to records, slab by slab, on one rank or many.
#include "codelets/io/gauge_writer.hpp"
#include "codelets/io/layout.hpp"
#include "runtime/mpi/shared_output.hpp"

#include <string>
#include <string_view>

namespace quarkstar::format {

using runtime::mpi::Job;
using runtime::mpi::SharedOutput;

/// Layout of a lexicographic payload for these links and options. Throws ShapeError or Error(input) if they do not fit.
PayloadLayout writer_layout(const std::string& path, const HostGauge& gauge, const GaugeWriteOptions& options, ByteOrder order);

/// Error(input) if the text contains a line end or another control character: it would break a header.
void check_header_text(const std::string& path, std::string_view field, std::string_view text);

/// What this rank writes of the links.
Box sites_to_write(const HostGauge& gauge, const GaugeWriteOptions& options);

/// Checksum of the encoded links of all ranks, for formats that store it before them. Collective.
PayloadChecksum encoded_checksum(std::string_view where, ChecksumKind kind, const PayloadLayout& layout, const HostGauge& gauge,
                                 const Box& sites);

/// The encoded links of all ranks at layout.offset, which the root knows. Collective.
void write_links(SharedOutput& file, std::string_view where, const PayloadLayout& layout, const HostGauge& gauge, const Box& sites);

}  // namespace quarkstar::format
