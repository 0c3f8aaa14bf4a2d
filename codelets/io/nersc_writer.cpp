#include "codelets/io/date.hpp"
#include "codelets/io/payload_writer.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar::format {
namespace {

// Configurations generated in single precision and never reunitarised are SU(3) to about 1e-6.
constexpr double third_row_tolerance = 1e-5;

void check_third_rows(const std::string& path, const HostGauge& gauge, const Coord& lattice, const Box& sites) {
  for (std::int64_t i = 0; i < volume(sites.extents); ++i) {
    const Coord x = site_of(sites, i);
    for (int mu = 0; mu < 4; ++mu) {
      const double deviation = third_row_deviation(gauge.link(index_in(gauge.box(), x, lattice), mu));
      if (deviation <= third_row_tolerance) continue;
      throw Error(ErrorKind::input, path,
                  fmt::format("two rows cannot hold the link at x,y,z,t = {},{},{},{} mu = {}: it is not in SU(3) "
                              "(third row off by {:.2g})",
                              x[0], x[1], x[2], x[3], mu, deviation),
                  "write all three rows, or reunitarise first");
    }
  }
}

std::string header_text(const std::string& path, const PayloadLayout& layout, const GaugeWriteOptions& options, std::uint32_t checksum) {
  if (!options.plaquette || !options.link_trace) {
    throw Error(ErrorKind::internal, path, "a NERSC header needs the plaquette and the link trace", "this is a defect: please report it");
  }
  std::string text = "BEGIN_HEADER\n";
  const auto line = [&](std::string_view key, const std::string& value) {
    check_header_text(path, key, value);
    text += fmt::format("{} = {}\n", key, value);
  };
  const std::string date = options.date.empty() ? utc_date() + " UTC" : options.date;
  line("HDR_VERSION", "1.0");
  line("DATATYPE", layout.rows == 2 ? "4D_SU3_GAUGE" : "4D_SU3_GAUGE_3x3");
  line("STORAGE_FORMAT", "1.0");
  for (std::size_t mu = 0; mu < 4; ++mu) line(fmt::format("DIMENSION_{}", mu + 1), fmt::format("{}", layout.extents[mu]));
  line("LINK_TRACE", fmt::format("{:.15g}", *options.link_trace));
  line("PLAQUETTE", fmt::format("{:.15g}", *options.plaquette));
  for (int mu = 1; mu <= 4; ++mu) line(fmt::format("BOUNDARY_{}", mu), "PERIODIC");
  line("CHECKSUM", fmt::format("{:x}", checksum));
  line("ENSEMBLE_ID", options.ensemble_id);
  line("ENSEMBLE_LABEL", options.ensemble_label);
  line("SEQUENCE_NUMBER", fmt::format("{}", options.sequence_number));
  line("CREATOR", options.creator);
  line("CREATOR_HARDWARE", options.creator_hardware);
  line("CREATION_DATE", date);
  line("ARCHIVE_DATE", date);
  line("FLOATING_POINT", layout.real_bytes == 4 ? "IEEE32BIG" : "IEEE64BIG");
  return text + "END_HEADER\n";
}

}  // namespace

void write_nersc(const std::string& path, const HostGauge& gauge, const GaugeWriteOptions& options) {
  Job& job = Job::current();
  const Box sites = sites_to_write(gauge, options);
  PayloadLayout layout;
  job.together([&] {
    layout = writer_layout(path, gauge, options, ByteOrder::big);
    if (options.rows != 2 && options.rows != 3) {
      throw Error(ErrorKind::input, path, fmt::format("links have 2 or 3 rows in NERSC files (rows = {})", options.rows), "choose 2 or 3");
    }
    layout.rows = options.rows;
  });
  SharedOutput file(job, path);
  if (layout.rows == 2) job.together([&] { check_third_rows(path, gauge, layout.extents, sites); });
  const std::uint32_t checksum = encoded_checksum(path, ChecksumKind::nersc, layout, gauge, sites).sums()[0];
  file.on_root([&] {
    file.root()->append(header_text(path, layout, options, checksum));
    layout.offset = file.root()->leave_room(layout.payload_bytes());
  });
  write_links(file, path, layout, gauge, sites);
  file.commit();
}

}  // namespace quarkstar::format
