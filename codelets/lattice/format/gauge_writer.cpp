#include "codelets/lattice/format/gauge_writer.hpp"

#include "codelets/lattice/format/payload_writer.hpp"
#include "codelets/lattice/format/text.hpp"
#include "runtime/error.hpp"

#include <fmt/format.h>

namespace quarkstar::format {

PayloadLayout writer_layout(const std::string& path, const HostGauge& gauge, const GaugeWriteOptions& options,
                            ByteOrder order) {
  PayloadLayout layout;
  layout.extents = checked_extents(path, {gauge.extents[0], gauge.extents[1], gauge.extents[2], gauge.extents[3]});
  if (gauge.data.size() != static_cast<std::size_t>(volume(layout.extents)) * HostGauge::reals_per_site) {
    throw ShapeError(
        path, fmt::format("{} numbers do not make a gauge field on {}", gauge.data.size(), describe(layout.extents)));
  }
  if (options.real_bytes != 4 && options.real_bytes != 8) {
    throw Error(ErrorKind::input, path, fmt::format("reals have 4 or 8 bytes (real_bytes = {})", options.real_bytes),
                "choose single or double precision");
  }
  layout.real_bytes = options.real_bytes;
  layout.byte_order = order;
  return layout;
}

void check_header_text(const std::string& path, std::string_view field, std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) continue;
    throw Error(ErrorKind::input, path,
                fmt::format("{} contains a control character ({} = {})", field, field, printable(text)),
                "give it as plain text on one line");
  }
}

PayloadChecksum encoded_checksum(std::string_view where, ChecksumKind kind, const PayloadLayout& layout,
                                 const HostGauge& gauge) {
  PayloadChecksum checksum(kind, layout.byte_order, layout.record_bytes());
  for_each_chunk(where, layout, gauge,
                 [&](std::int64_t first, std::span<const std::byte> bytes) { checksum.add(first, bytes); });
  return checksum;
}

void write_gauge(const std::string& path, GaugeFormat format, const HostGauge& gauge,
                 const GaugeWriteOptions& options) {
  switch (format) {
    case GaugeFormat::nersc:
      return write_nersc(path, gauge, options);
    case GaugeFormat::ildg:
      return write_ildg(path, gauge, options);
    case GaugeFormat::milc_v5:
      return write_milc(path, gauge, options);
    case GaugeFormat::scidac:
    case GaugeFormat::milc_v1:
    case GaugeFormat::openqcd:
      break;
  }
  throw Error(ErrorKind::input, path, fmt::format("{} files are read but not written", to_string(format)),
              "choose NERSC, ILDG or MILC version 5");
}

}  // namespace quarkstar::format
