#include "codelets/io/ildg.hpp"

#include "codelets/io/scidac.hpp"
#include "codelets/io/text.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace quarkstar::format {
namespace {

constexpr std::uint64_t reals_per_site = HostGauge::reals_per_site;
constexpr const char* copy_again = "the file is damaged: copy it again";

const ScidacRecord& find_links(const ByteSource& source, const ScidacFile& file) {
  const auto is_ildg = [](const ScidacRecord& record) { return record.data.type == "ildg-binary-data"; };
  if (const auto found = std::find_if(file.records.begin(), file.records.end(), is_ildg); found != file.records.end()) return *found;
  if (!file.records.empty()) return file.records.front();
  throw Error(ErrorKind::input, source.name(), "this LIME file has neither an ildg-binary-data nor a scidac-binary-data record",
              "the file is incomplete or holds no lattice field");
}

/// Metadata that rule out four 3x3 colour matrices per site.
void check_is_gauge(const ScidacFile& file, const ScidacRecord& links) {
  if (file.ildg && file.ildg->field && *file.ildg->field != "su3gauge") {
    throw Error(ErrorKind::input, file.ildg->where, fmt::format("<field> is not su3gauge (field = {})", printable(*file.ildg->field)),
                "give an SU(3) gauge configuration");
  }
  if (!links.info) return;
  const ScidacRecordInfo& info = *links.info;
  const auto names = [&](const char* type) { return info.datatype->find(type) != std::string::npos; };
  if (info.datatype && !names("ColorMatrix") && !names("ColourMatrix")) {
    throw Error(ErrorKind::input, info.where, fmt::format("the data are not colour matrices (datatype = {})", printable(*info.datatype)),
                "give a gauge configuration");
  }
  if (info.record_type.value_or(0) != 0) {
    throw Error(ErrorKind::input, info.where, fmt::format("the data are not a field on all sites (recordtype = {})", *info.record_type),
                "give a gauge configuration");
  }
  if (info.colors.value_or(3) != 3) {
    throw Error(ErrorKind::input, info.where, fmt::format("only three colours are supported (colors = {})", *info.colors),
                "give an SU(3) gauge configuration");
  }
}

std::optional<Coord> stated_extents(const ScidacFile& file) {
  std::optional<Coord> dims;
  if (file.dims) dims = checked_extents(file.dims_where, *file.dims);
  if (!file.ildg || !file.ildg->extents) return dims;
  const Coord ildg = checked_extents(file.ildg->where, *file.ildg->extents);
  if (dims && *dims != ildg) {
    throw Error(ErrorKind::input, file.ildg->where,
                fmt::format("ildg-format and scidac-private-file-xml name different extents ({} and {})", describe(ildg), describe(*dims)),
                copy_again);
  }
  return ildg;
}

std::optional<int> stated_real_bytes(const ScidacFile& file, const ScidacRecord& links) {
  std::optional<int> scidac = links.info ? links.info->real_bytes() : std::nullopt;
  if (!file.ildg || !file.ildg->precision) return scidac;
  const std::int64_t bits = *file.ildg->precision;
  if (bits != 32 && bits != 64) {
    throw Error(ErrorKind::input, file.ildg->where, fmt::format("<precision> is neither 32 nor 64 (precision = {})", bits), copy_again);
  }
  const int bytes = static_cast<int>(bits / 8);
  if (scidac && *scidac != bytes) {
    throw Error(ErrorKind::input, file.ildg->where,
                fmt::format("ildg-format and scidac-private-record-xml name different precisions ({} bit and {} bit)", bits, 8 * *scidac),
                copy_again);
  }
  return bytes;
}

/// Precision of data that nothing describes: the one in which the first link has rows of unit norm.
int probe_real_bytes(const ByteSource& source, const ScidacRecord& links) {
  int best = 0;
  double least = 0.1;
  for (const int real_bytes : {4, 8}) {
    PayloadLayout layout;
    layout.real_bytes = real_bytes;
    if (links.data.length == 0 || links.data.length % layout.record_bytes() != 0) continue;
    std::vector<std::byte> link(layout.link_bytes());
    source.read(links.data.data_offset, link);
    if (const double deviation = norm_deviation(layout, link); deviation < least) {
      least = deviation;
      best = real_bytes;
    }
  }
  if (best == 0) {
    throw Error(ErrorKind::input, at_offset(source, links.data.data_offset),
                fmt::format("no record states the precision of these data, and they are not unitary matrices in either ({} bytes)",
                            links.data.length),
                "the file is damaged, or add an ildg-format record");
  }
  return best;
}

Coord guess_hypercube(const ByteSource& source, const ScidacRecord& links, int real_bytes) {
  const std::uint64_t sites = links.data.length / (reals_per_site * static_cast<std::uint64_t>(real_bytes));
  const auto edge = static_cast<std::int64_t>(std::llround(std::pow(static_cast<double>(sites), 0.25)));
  if (edge < 1 || static_cast<std::uint64_t>(edge * edge * edge * edge) != sites) {
    throw Error(ErrorKind::input, at_offset(source, links.data.data_offset),
                fmt::format("no record states the lattice extents, and {} sites are no hypercube", sites),
                "state the extents when reading this file");
  }
  return checked_extents(source.name(), {edge, edge, edge, edge});
}

void check_length(const ByteSource& source, const ScidacRecord& links, const PayloadLayout& layout) {
  if (links.data.length == layout.payload_bytes()) return;
  throw Error(ErrorKind::input, at_offset(source, links.data.header_offset),
              fmt::format("{} has {} bytes, but {} with {}-bit reals needs {}", links.data.type, links.data.length,
                          describe(layout.extents), 8 * layout.real_bytes, layout.payload_bytes()),
              "extents, precision or data are damaged: copy the file again");
}

/// Byte width that makes the data fit the extents, for files that state the extents only.
int fitting_real_bytes(const ScidacRecord& links, const Coord& extents) {
  const std::uint64_t single = static_cast<std::uint64_t>(volume(extents)) * reals_per_site * 4;
  return links.data.length == single ? 4 : 8;
}

/// QIO itself refuses such files; other writers get these two fields wrong, and the data are unambiguous without them.
void note_datum_size(const ScidacRecord& links, GaugeFileInfo& info) {
  if (!links.info || !links.info->typesize || !links.info->datacount) return;
  const auto site_bytes = static_cast<std::int64_t>(info.layout.record_bytes());
  const std::int64_t typesize = *links.info->typesize;
  if (typesize > 0 && site_bytes % typesize == 0 && *links.info->datacount == site_bytes / typesize) return;
  info.notes.push_back(
      fmt::format("typesize = {} and datacount = {} do not make the {} bytes of a site", typesize, *links.info->datacount, site_bytes));
}

}  // namespace

GaugeFileInfo parse_lime_gauge(const ByteSource& source, const std::optional<Coord>& extents_hint) {
  ScidacFile file = scan_scidac(source);
  const ScidacRecord& links = find_links(source, file);
  check_is_gauge(file, links);

  GaugeFileInfo info;
  info.path = source.name();
  info.format = links.data.type == "ildg-binary-data" ? GaugeFormat::ildg : GaugeFormat::scidac;
  info.notes = std::move(file.notes);
  info.header = std::move(file.header);
  info.layout.offset = links.data.data_offset;
  if (file.records.size() > 1) {
    info.notes.push_back(
        fmt::format("the file holds {} data records; the one at offset {} is read", file.records.size(), links.data.header_offset));
  }
  std::optional<Coord> extents = stated_extents(file);
  if (!extents && extents_hint) {
    extents = checked_extents("lattice extents given for " + source.name(),
                              {(*extents_hint)[0], (*extents_hint)[1], (*extents_hint)[2], (*extents_hint)[3]});
    info.notes.push_back("no record states the lattice extents: those given by the user are taken");
  }
  std::optional<int> real_bytes = stated_real_bytes(file, links);
  if (!real_bytes) {
    real_bytes = extents ? fitting_real_bytes(links, *extents) : probe_real_bytes(source, links);
    info.notes.push_back(fmt::format("no record states the precision: the data are {}-bit reals", 8 * *real_bytes));
  }
  if (!extents) {
    extents = guess_hypercube(source, links, *real_bytes);
    info.notes.push_back(fmt::format("no record states the lattice extents: {} is assumed", describe(*extents)));
  }
  info.layout.real_bytes = *real_bytes;
  info.layout.extents = *extents;
  check_length(source, links, info.layout);
  note_datum_size(links, info);

  info.checksum_kind = ChecksumKind::scidac;
  info.checksum_expected = links.info.has_value();
  info.checksums = unchecked_verdicts(info.checksum_kind);
  if (links.checksum) {
    for (std::size_t i = 0; i < 2; ++i) info.checksums[i].stored = (*links.checksum)[i];
  } else {
    info.notes.push_back("the file stores no checksum");
  }
  return info;
}

}  // namespace quarkstar::format
