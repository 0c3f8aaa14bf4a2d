#include "codelets/io/gauge_file.hpp"

#include "codelets/io/ildg.hpp"
#include "codelets/io/lime.hpp"
#include "codelets/io/milc.hpp"
#include "codelets/io/nersc.hpp"
#include "codelets/io/openqcd.hpp"
#include "codelets/io/reals.hpp"
#include "codelets/io/text.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace quarkstar::format {
namespace {

GaugeFileInfo parse_by_magic(const ByteSource& source, const GaugeReadOptions& options) {
  const std::vector<std::byte> first = source.read_up_to(0, 32);
  if (is_nersc(first)) return parse_nersc(source);
  if (is_lime(first)) return parse_lime_gauge(source, options.extents);
  if (is_milc(first)) return parse_milc(source);
  if (may_be_openqcd(first)) return parse_openqcd(source);
  std::string shown;
  for (std::size_t i = 0; i < std::min<std::size_t>(first.size(), 8); ++i) shown += fmt::format("{:02x} ", std::to_integer<int>(first[i]));
  throw Error(ErrorKind::input, source.name(), fmt::format("is no gauge configuration in a known format (first bytes = {})", shown),
              "give a NERSC, SciDAC, ILDG, MILC, openQCD or DDalphaAMG file, uncompressed");
}

/// Header texts go into terminals, JSON and HTML, none of which takes arbitrary bytes.
GaugeFileInfo parse(const ByteSource& source, const GaugeReadOptions& options) {
  GaugeFileInfo info = parse_by_magic(source, options);
  for (auto& [key, value] : info.header) {
    key = plain_text(key);
    value = plain_text(value);
  }
  return info;
}

HostGauge allocate(const GaugeFileInfo& info) {
  const auto reals = static_cast<std::size_t>(volume(info.layout.extents)) * HostGauge::reals_per_site;
  return {info.layout.extents, allocate_reals(info.path, reals)};
}

}  // namespace

GaugeFile::GaugeFile(const std::string& path, const GaugeReadOptions& options) : GaugeFile(open_file(path), options) {}

GaugeFile::GaugeFile(std::unique_ptr<ByteSource> source, const GaugeReadOptions& options)
    : source_(std::move(source)), policy_(options.checksums), info_(parse(*source_, options)) {}

PayloadChecksum GaugeFile::new_checksum() const { return {info_.checksum_kind, info_.layout.byte_order, info_.layout.record_bytes()}; }

void GaugeFile::read_records(std::int64_t first_record, std::span<std::byte> bytes) const {
  source_->read(info_.layout.offset + static_cast<std::uint64_t>(first_record) * info_.layout.record_bytes(), bytes);
}

std::vector<ChecksumVerdict> GaugeFile::settle(const PayloadChecksum& checksum) const {
  std::vector<ChecksumVerdict> verdicts = info_.checksums;
  settle_checksums(info_.path, checksum, info_.checksum_expected, policy_, verdicts);
  return verdicts;
}

GaugeRead read_gauge(const std::string& path, const GaugeReadOptions& options) { return read_gauge(GaugeFile(path, options)); }

GaugeRead read_gauge(const GaugeFile& file) {
  const PayloadLayout& layout = file.info().layout;
  GaugeRead result{allocate(file.info()), file.info()};
  PayloadChecksum checksum = file.new_checksum();
  std::optional<LinkPlace> not_finite;
  const std::int64_t records = layout.records();
  const std::int64_t chunk = std::min(records_per_chunk(layout.record_bytes()), records);
  std::vector<std::byte> buffer(static_cast<std::size_t>(chunk) * layout.record_bytes());
  for (std::int64_t first = 0; first < records; first += chunk) {
    const std::span<std::byte> bytes =
        std::span(buffer).first(static_cast<std::size_t>(std::min(chunk, records - first)) * layout.record_bytes());
    file.read_records(first, bytes);
    runtime::mpi::Job::current().note_progress();  // where every rank reads the whole file, some wait for the slowest
    checksum.add(first, bytes);
    for_each_link(layout, first, bytes, [&](std::int64_t site, int mu, std::span<const double, 18> link) {
      std::copy(link.begin(), link.end(), result.gauge.link(site, mu).begin());
      if (!not_finite && !std::all_of(link.begin(), link.end(), [](double v) { return std::isfinite(v); })) not_finite = {site, mu};
    });
  }
  // The checksum first: where both are wrong, it says more.
  result.info.checksums = file.settle(checksum);
  if (not_finite) {
    const Coord x = coordinates(not_finite->site, layout.extents);
    throw Error(ErrorKind::input, file.info().path,
                fmt::format("the link at x,y,z,t = {},{},{},{} mu = {} is not finite", x[0], x[1], x[2], x[3], not_finite->mu),
                "the file is damaged: copy it again");
  }
  return result;
}

}  // namespace quarkstar::format
