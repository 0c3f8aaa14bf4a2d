#include "codelets/io/scidac_field.hpp"

#include "codelets/io/border_check.hpp"
#include "codelets/io/part_checksum.hpp"
#include "codelets/io/reals.hpp"
#include "codelets/lattice/boxes.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace quarkstar::format {
namespace {

ScidacFile describe_file(const ByteSource& source) {
  if (!is_lime(source.read_up_to(0, 4))) {
    throw Error(ErrorKind::input, at_offset(source, 0), "this is not a SciDAC (LIME) file", "give a SciDAC file");
  }
  return scan_scidac(source);
}

/// Width of the reals of a record, from what it states and from its length.
int real_bytes_of(const ByteSource& source, const ScidacRecord& record, std::int64_t sites, int reals_per_site) {
  const std::string where = at_offset(source, record.data.header_offset);
  const std::uint64_t reals = static_cast<std::uint64_t>(sites) * static_cast<std::uint64_t>(reals_per_site);
  if (record.info && record.info->record_type.value_or(0) != 0) {
    throw Error(ErrorKind::input, where, fmt::format("the record is not a field on all sites (recordtype = {})", *record.info->record_type),
                "only whole fields are read");
  }
  const int stated = record.info ? record.info->real_bytes().value_or(0) : 0;
  for (const int real_bytes : {4, 8}) {
    const bool allowed = stated == 0 || stated == real_bytes;
    if (allowed && record.data.length == reals * static_cast<std::uint64_t>(real_bytes)) return real_bytes;
  }
  throw Error(ErrorKind::input, where,
              fmt::format("{} has {} bytes, which are not {} reals for each of {} sites{}", record.data.type, record.data.length,
                          reals_per_site, sites, stated == 0 ? "" : fmt::format(" in {} bit", 8 * stated)),
              "the record is damaged or holds another kind of field");
}

/// What is said of a field once all of it has been read. finite: whether all numbers are.
void settle(const ByteSource& source, const ScidacRecord& record, const PayloadChecksum& checksum, ChecksumPolicy policy, bool finite) {
  const std::string where = at_offset(source, record.data.header_offset);
  std::vector<ChecksumVerdict> verdicts;
  for (std::size_t i = 0; i < 2; ++i) {
    verdicts.push_back({checksum_names(ChecksumKind::scidac)[i], std::nullopt, std::nullopt});
    if (record.checksum) verdicts.back().stored = (*record.checksum)[i];
  }
  settle_checksums(where, checksum, true, policy, verdicts);
  if (!finite) throw Error(ErrorKind::input, where, "the field has a number that is not finite", "the file is damaged: copy it again");
}

bool all_finite(std::span<const double> reals) {
  return std::all_of(reals.begin(), reals.end(), [](double v) { return std::isfinite(v); });
}

/// Throws Error(input) for a number that is not finite in the file's precision.
void encode(const std::string& where, const ScidacDatum& datum, std::span<const double> reals, std::span<std::byte> out) {
  if (encode_reals(datum.real_bytes, reals, ByteOrder::big, out.data())) return;
  throw Error(ErrorKind::input, where, fmt::format("the field has a number that is not finite in {}-bit reals", 8 * datum.real_bytes),
              "check how the field was made before writing it");
}

}  // namespace

ScidacFieldFile::ScidacFieldFile(const std::string& path) : ScidacFieldFile(open_file(path)) {}

ScidacFieldFile::ScidacFieldFile(std::unique_ptr<ByteSource> source) : source_(std::move(source)), description_(describe_file(*source_)) {
  if (!description_.dims) {
    throw Error(ErrorKind::input, source_->name(), "no scidac-private-file-xml record states the lattice extents",
                "the file is damaged or not a SciDAC file: copy it again");
  }
  extents_ = checked_extents(description_.dims_where, *description_.dims);
}

std::string ScidacFieldFile::record_text(const ScidacRecord& record) const {
  return record.user_xml ? lime_text(*source_, *record.user_xml, longest_xml) : std::string();
}

std::string ScidacFieldFile::file_text() const {
  return description_.user_file_xml ? lime_text(*source_, *description_.user_file_xml, longest_xml) : std::string();
}

HostReals ScidacFieldFile::read(const ScidacRecord& record, int reals_per_site, ChecksumPolicy policy) const {
  const std::int64_t sites = volume(extents_);
  const int real_bytes = real_bytes_of(*source_, record, sites, reals_per_site);
  const auto reals = static_cast<std::size_t>(reals_per_site);
  const std::size_t site_bytes = reals * static_cast<std::size_t>(real_bytes);
  HostReals field = allocate_reals(source_->name(), static_cast<std::size_t>(sites) * reals);
  PayloadChecksum checksum(ChecksumKind::scidac, ByteOrder::big, site_bytes);
  const std::int64_t chunk = std::min(records_per_chunk(site_bytes), sites);
  std::vector<std::byte> buffer(static_cast<std::size_t>(chunk) * site_bytes);
  for (std::int64_t first = 0; first < sites; first += chunk) {
    const auto count = static_cast<std::size_t>(std::min(chunk, sites - first));
    const std::span<std::byte> bytes = std::span(buffer).first(count * site_bytes);
    const auto start = static_cast<std::size_t>(first);
    source_->read(record.data.data_offset + start * site_bytes, bytes);
    checksum.add(first, bytes);
    decode_reals(real_bytes, bytes.data(), ByteOrder::big, std::span(field).subspan(start * reals, count * reals));
  }
  settle(*source_, record, checksum, policy, all_finite(field));
  return field;
}

HostReals ScidacFieldFile::read_part(const ScidacRecord& record, int reals_per_site, const Box& part, const Box& box) const {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  const auto reals = static_cast<std::size_t>(reals_per_site);
  int real_bytes = 0;
  HostReals field;
  job.together([&] {
    if (!contains(box, part, extents_)) throw ShapeError("ScidacFieldFile::read_part", "the box does not hold the part");
    real_bytes = real_bytes_of(*source_, record, volume(extents_), reals_per_site);
    field = allocate_reals(source_->name(), static_cast<std::size_t>(volume(box.extents)) * reals);
  });
  const std::size_t site_bytes = reals * static_cast<std::size_t>(real_bytes);
  const auto store = [&](const Box& slab, std::span<const std::byte> bytes) {
    const std::size_t row = static_cast<std::size_t>(slab.extents[0]) * reals;
    for (std::int64_t i = 0; i < volume(slab.extents); i += slab.extents[0]) {
      const auto first = static_cast<std::size_t>(index_in(box, site_of(slab, i), extents_)) * reals;
      decode_reals(real_bytes, bytes.data() + static_cast<std::size_t>(i) * site_bytes, ByteOrder::big,
                   std::span(field).subspan(first, row));
    }
  };
  runtime::mpi::SharedFile file(job, path(), runtime::mpi::SharedFile::Mode::read);
  const runtime::mpi::SiteRecords records{record.data.data_offset, site_bytes, extents_};
  PayloadChecksum checksum(ChecksumKind::scidac, ByteOrder::big, site_bytes);
  file.read_slabs(records, part, [&](const Box& slab, std::span<const std::byte> bytes) {
    add_box(checksum, slab, extents_, bytes);
    store(slab, bytes);
  });
  file.read_slabs(records, folded(border_of(box, part, extents_), extents_), store);
  file.close();
  const PayloadChecksum total = over_ranks(job, checksum);
  job.together([&] { settle(*source_, record, total, ChecksumPolicy::enforce, all_finite(field)); });
  compare_borders(job, path(), field, box, part, extents_);
  return field;
}

void write_scidac_data_part(runtime::mpi::SharedOutput& out, LimeWriter* lime, std::string_view type, const Coord& extents, const Box& box,
                            std::size_t site_bytes, const runtime::mpi::SharedFile::Fill& encode) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  std::uint64_t offset = 0;
  out.on_root([&] { offset = lime->leave_record(type, static_cast<std::uint64_t>(volume(extents)) * site_bytes, false, false); });
  PayloadChecksum checksum(ChecksumKind::scidac, ByteOrder::big, site_bytes);
  out.fill_slabs({offset, site_bytes, extents}, box, [&](const Box& slab, std::span<std::byte> bytes) {
    encode(slab, bytes);
    add_box(checksum, slab, extents, bytes);
  });
  const PayloadChecksum total = over_ranks(job, checksum);
  out.on_root([&] {
    lime->close_record();
    write_scidac_checksum(*lime, total);
  });
}

void write_scidac_field_part(runtime::mpi::SharedOutput& out, LimeWriter* lime, const Coord& extents, const Box& part,
                             const ScidacDatum& datum, std::string_view user_xml, std::string_view date, std::span<const double> field,
                             const Box& box) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  const std::size_t reals = datum.site_bytes() / static_cast<std::size_t>(datum.real_bytes);
  job.together([&] {
    if (field.size() != static_cast<std::size_t>(volume(box.extents)) * reals || !contains(box, part, extents))
      throw ShapeError("write_scidac_field_part",
                       fmt::format("{} numbers do not fill the part of {}", field.size(), describe(part.extents)));
  });
  out.on_root([&] { write_scidac_record_header(*lime, datum, user_xml, date); });
  write_scidac_data_part(out, lime, "scidac-binary-data", extents, part, datum.site_bytes(),
                         [&](const Box& slab, std::span<std::byte> bytes) {
                           const auto row = static_cast<std::size_t>(slab.extents[0]);
                           for (std::int64_t i = 0; i < volume(slab.extents); i += slab.extents[0]) {
                             const auto first = static_cast<std::size_t>(index_in(box, site_of(slab, i), extents));
                             encode(out.path(), datum, field.subspan(first * reals, row * reals),
                                    bytes.subspan(static_cast<std::size_t>(i) * datum.site_bytes(), row * datum.site_bytes()));
                           }
                         });
}

}  // namespace quarkstar::format
