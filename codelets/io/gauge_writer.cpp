#include "codelets/io/gauge_writer.hpp"

#include "codelets/io/part_checksum.hpp"
#include "codelets/io/payload_writer.hpp"
#include "codelets/io/text.hpp"
#include "runtime/mpi/slabs.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar::format {

PayloadLayout writer_layout(const std::string& path, const HostGauge& gauge, const GaugeWriteOptions& options, ByteOrder order) {
  const Coord lattice = options.part ? options.part->lattice : gauge.extents;
  PayloadLayout layout;
  layout.extents = checked_extents(path, {lattice[0], lattice[1], lattice[2], lattice[3]});
  if (gauge.data.size() != static_cast<std::size_t>(volume(gauge.extents)) * HostGauge::reals_per_site) {
    throw ShapeError(path, fmt::format("{} numbers do not make a gauge field on {}", gauge.data.size(), describe(gauge.extents)));
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
    throw Error(ErrorKind::input, path, fmt::format("{} contains a control character ({} = {})", field, field, printable(text)),
                "give it as plain text on one line");
  }
}

Box sites_to_write(const HostGauge& gauge, const GaugeWriteOptions& options) { return options.part ? options.part->sites : gauge.box(); }

PayloadChecksum encoded_checksum(std::string_view where, ChecksumKind kind, const PayloadLayout& layout, const HostGauge& gauge,
                                 const Box& sites) {
  Job& job = Job::current();
  PayloadChecksum checksum(kind, layout.byte_order, layout.record_bytes());
  job.together([&] {
    std::vector<std::byte> buffer;
    for (const Box& slab : runtime::mpi::slabs_of(sites, records_per_chunk(layout.record_bytes()))) {
      buffer.resize(static_cast<std::size_t>(volume(slab.extents)) * layout.record_bytes());
      encode_box(where, layout, gauge, slab, buffer);
      add_box(checksum, slab, layout.extents, buffer);
    }
  });
  return over_ranks(job, checksum);
}

void write_links(SharedOutput& file, std::string_view where, const PayloadLayout& layout, const HostGauge& gauge, const Box& sites) {
  file.fill_slabs({layout.offset, layout.record_bytes(), layout.extents}, sites,
                  [&](const Box& slab, std::span<std::byte> bytes) { encode_box(where, layout, gauge, slab, bytes); });
}

void write_gauge(const std::string& path, GaugeFormat format, const HostGauge& gauge, const GaugeWriteOptions& options) {
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
    case GaugeFormat::ddalphaamg:
      break;
  }
  throw Error(ErrorKind::input, path, fmt::format("{} files are read but not written", to_string(format)),
              "choose NERSC, ILDG or MILC version 5");
}

}  // namespace quarkstar::format
