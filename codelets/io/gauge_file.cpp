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
#include <atomic>
#include <cmath>
#include <exception>

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

GaugeRead read_gauge(const std::string& path, const GaugeReadOptions& options, const runtime::Team& team) {
  return read_gauge(GaugeFile(path, options), team);
}

GaugeRead read_gauge(const GaugeFile& file, const runtime::Team& team) {
  const PayloadLayout& layout = file.info().layout;
  GaugeRead result{allocate(file.info()), file.info()};
  const std::int64_t records = layout.records();
  const std::int64_t chunk = std::min(records_per_chunk(layout.record_bytes()), records);
  std::atomic<std::int64_t> next = 0;  // threads go through the file together, as disks like it
  struct Part {
    PayloadChecksum checksum;
    std::optional<std::int64_t> not_finite{}, failed{};  ///< the first link, 4 * site + mu; the first record of the chunk
    std::exception_ptr error{};
  };
  std::vector<Part> parts(static_cast<std::size_t>(team.threads()), {file.new_checksum()});
  const auto read_chunks = [&](Part& part, bool is_caller) {
    std::vector<std::byte> buffer;
    for (std::int64_t first; (first = chunk * next++) < records;) {
      part.failed = first;
      if (buffer.empty()) buffer.resize(static_cast<std::size_t>(chunk) * layout.record_bytes());  // of short files most threads have none
      const std::span<std::byte> bytes =
          std::span(buffer).first(static_cast<std::size_t>(std::min(chunk, records - first)) * layout.record_bytes());
      file.read_records(first, bytes);
      if (is_caller) runtime::mpi::Job::current().note_progress();  // where every rank reads the whole file, some wait for the slowest
      part.checksum.add(first, bytes);
      for_each_link(layout, first, bytes, [&](std::int64_t site, int mu, std::span<const double, 18> link) {
        std::copy(link.begin(), link.end(), result.gauge.link(site, mu).begin());
        const bool is_finite = std::all_of(link.begin(), link.end(), [](double v) { return std::isfinite(v); });
        if (!is_finite) part.not_finite = std::min(part.not_finite.value_or(4 * site + mu), 4 * site + mu);
      });
    }
    part.failed.reset();
  };
  team.for_range(team.threads(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      Part& part = parts[static_cast<std::size_t>(i)];
      try {
        read_chunks(part, i == 0);
      } catch (...) {
        part.error = std::current_exception();
      }
    }
  });
  const Part* failed = nullptr;
  PayloadChecksum checksum = file.new_checksum();
  std::optional<std::int64_t> not_finite;
  for (const Part& part : parts) {
    checksum.merge(part.checksum);
    if (part.not_finite) not_finite = std::min(not_finite.value_or(*part.not_finite), *part.not_finite);
    if (part.error && (failed == nullptr || part.failed < failed->failed)) failed = &part;
  }
  if (failed != nullptr) std::rethrow_exception(failed->error);
  // The checksum first: where both are wrong, it says more.
  result.info.checksums = file.settle(checksum);
  if (not_finite) {
    const Coord x = coordinates(*not_finite / 4, layout.extents);
    throw Error(ErrorKind::input, file.info().path,
                fmt::format("the link at x,y,z,t = {},{},{},{} mu = {} is not finite", x[0], x[1], x[2], x[3], *not_finite % 4),
                "the file is damaged: copy it again");
  }
  return result;
}

}  // namespace quarkstar::format
