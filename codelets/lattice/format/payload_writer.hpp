#pragma once
// The part that all gauge writers share: links to records, chunk by chunk.
#include "codelets/lattice/format/gauge_writer.hpp"
#include "codelets/lattice/format/layout.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarkstar::format {

/// Layout of a lexicographic payload for these links and options. Throws ShapeError or Error(input) if they do not fit.
PayloadLayout writer_layout(const std::string& path, const HostGauge& gauge, const GaugeWriteOptions& options,
                            ByteOrder order);

/// Error(input) if the text contains a line end or another control character: it would break a header.
void check_header_text(const std::string& path, std::string_view field, std::string_view text);

/// Encodes all records in chunks: consume(first_record, bytes).
template <class Consume>
void for_each_chunk(std::string_view where, const PayloadLayout& layout, const HostGauge& gauge, Consume&& consume) {
  const std::int64_t records = layout.records();
  const std::int64_t chunk = std::min(records_per_chunk(layout.record_bytes()), records);
  std::vector<std::byte> buffer(static_cast<std::size_t>(chunk) * layout.record_bytes());
  for (std::int64_t first = 0; first < records; first += chunk) {
    const std::span<std::byte> bytes =
        std::span(buffer).first(static_cast<std::size_t>(std::min(chunk, records - first)) * layout.record_bytes());
    encode_records(where, layout, gauge, first, bytes);
    consume(first, std::span<const std::byte>(bytes));
  }
}

/// Checksum of the encoded links, for formats that store it before them.
PayloadChecksum encoded_checksum(std::string_view where, ChecksumKind kind, const PayloadLayout& layout,
                                 const HostGauge& gauge);

}  // namespace quarkstar::format
