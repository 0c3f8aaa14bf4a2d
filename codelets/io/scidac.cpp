#include "codelets/io/scidac.hpp"

#include "codelets/io/text.hpp"
#include "codelets/io/xml.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::format {
namespace {

/// Collects the records of one file while walking over it.
class Scanner {
 public:
  explicit Scanner(const ByteSource& source) : source_(source) {}

  ScidacFile scan() {
    for (const LimeRecord& record : lime_records(source_)) take(record);
    attach_strays();
    return std::move(file_);
  }

 private:
  std::string where(const LimeRecord& record) const { return fmt::format("{} ({})", at_offset(source_, record.data_offset), record.type); }

  XmlValues read_xml(const LimeRecord& record) {
    XmlValues xml(where(record), lime_text(source_, record, longest_xml));
    if (!xml.well_formed()) file_.notes.push_back(fmt::format("{} at offset {} is not well-formed XML", record.type, record.data_offset));
    for (const auto& value : xml.values()) file_.header.push_back(value);
    return xml;
  }

  void take(const LimeRecord& record) {
    if (record.type == "scidac-private-file-xml") {
      take_file_info(read_xml(record));
    } else if (record.type == "scidac-file-xml") {
      file_.user_file_xml = record;
      keep_user_text(record);
    } else if (record.type == "scidac-private-record-xml") {
      info_ = record_info(read_xml(record));
    } else if (record.type == "scidac-record-xml") {
      user_xml_ = record;
      keep_user_text(record);
    } else if (record.type == "ildg-format") {
      take_ildg_format(read_xml(record));
    } else if (record.type == "ildg-data-lfn") {
      file_.lfn = trim(lime_text(source_, record, longest_xml));
      file_.header.emplace_back(record.type, file_.lfn);
    } else if (record.type == "ildg-binary-data" || record.type == "scidac-binary-data") {
      file_.records.push_back({record, std::exchange(info_, {}), std::exchange(user_xml_, {}), std::nullopt});
    } else if (record.type == "scidac-checksum") {
      take_checksum(read_xml(record));
    } else {
      file_.notes.push_back(fmt::format("record {} at offset {} is not used", record.type, record.header_offset));
    }
  }

  /// User records hold anything; they are shown, never interpreted, so a long one is no error.
  void keep_user_text(const LimeRecord& record) {
    if (record.length > longest_xml) {
      file_.notes.push_back(fmt::format("{} of {} bytes is not shown", record.type, record.length));
    } else {
      file_.header.emplace_back(record.type, lime_text(source_, record, longest_xml));
    }
  }

  void take_file_info(const XmlValues& xml) {
    // Version 1.0 counted files (multifile = 1: single); since 1.1 volfmt 0 is the single file.
    if (xml.integer("volfmt").value_or(0) != 0) xml.reject("volfmt", "0 (single file); join the parts with QIO's qio-convert-mesh");
    const auto dims = xml.integers("dims");
    if (!dims) return;
    if (dims->size() != 4) xml.reject("dims", "a list of four extents");
    file_.dims.emplace();
    std::copy(dims->begin(), dims->end(), file_.dims->begin());
    file_.dims_where = xml.where();
  }

  static ScidacRecordInfo record_info(const XmlValues& xml) {
    ScidacRecordInfo info;
    info.where = xml.where();
    info.datatype = xml.text("datatype");
    info.precision = xml.text("precision");
    info.record_type = xml.integer("recordtype");
    if (!info.record_type) info.record_type = xml.integer("globaldata");
    info.colors = xml.integer("colors");
    info.spins = xml.integer("spins");
    info.typesize = xml.integer("typesize");
    info.datacount = xml.integer("datacount");
    return info;
  }

  void take_ildg_format(const XmlValues& xml) {
    IldgFormat ildg{xml.where(), xml.text("field"), xml.integer("precision"), std::nullopt};
    constexpr std::array names = {"lx", "ly", "lz", "lt"};
    std::array<std::int64_t, 4> extents{};
    std::size_t known = 0;
    for (std::size_t mu = 0; mu < 4; ++mu) {
      const auto extent = xml.integer(names[mu]);
      if (!extent) continue;
      extents[mu] = *extent;
      ++known;
    }
    if (known == 4) ildg.extents = extents;
    if (known != 4 && known != 0) {
      throw Error(ErrorKind::input, xml.where(), fmt::format("only {} of <lx>, <ly>, <lz>, <lt> can be read", known),
                  "the file is damaged: copy it again");
    }
    file_.ildg = std::move(ildg);
  }

  void take_checksum(const XmlValues& xml) {
    const auto suma = xml.hex32("suma");
    const auto sumb = xml.hex32("sumb");
    if (!suma || !sumb) {
      throw Error(ErrorKind::input, xml.where(), "the checksum record lacks <suma> or <sumb>", "the file is damaged: copy it again");
    }
    const std::array<std::uint32_t, 2> sums{*suma, *sumb};
    if (!file_.records.empty() && !file_.records.back().checksum) {
      file_.records.back().checksum = sums;
    } else {
      stray_checksum_ = sums;
    }
  }

  /// With one data record there is no doubt what out-of-order information belongs to.
  void attach_strays() {
    if (file_.records.size() != 1) return;
    ScidacRecord& record = file_.records.front();
    if (!record.info) record.info = std::move(info_);
    if (!record.user_xml) record.user_xml = std::move(user_xml_);
    if (!record.checksum) record.checksum = stray_checksum_;
  }

  const ByteSource& source_;
  ScidacFile file_;
  std::optional<ScidacRecordInfo> info_;
  std::optional<LimeRecord> user_xml_;
  std::optional<std::array<std::uint32_t, 2>> stray_checksum_;
};

}  // namespace

std::optional<int> ScidacRecordInfo::real_bytes() const {
  if (!precision) return std::nullopt;
  if (*precision == "F") return 4;
  if (*precision == "D") return 8;
  throw Error(ErrorKind::input, where, fmt::format("<precision> is neither F nor D (precision = {})", printable(*precision)),
              "the file is damaged or holds no reals");
}

ScidacFile scan_scidac(const ByteSource& source) { return Scanner(source).scan(); }

void write_scidac_file_header(LimeWriter& lime, const Coord& extents, std::string_view user_xml) {
  lime.text_record("scidac-private-file-xml",
                   fmt::format("{}<scidacFile><version>1.1</version><spacetime>4</spacetime><dims>{} {} {} {} </dims>"
                               "<volfmt>0</volfmt></scidacFile>",
                               xml_declaration, extents[0], extents[1], extents[2], extents[3]),
                   true, false);
  lime.text_record("scidac-file-xml", user_xml, false, true);
}

void write_scidac_record_header(LimeWriter& lime, const ScidacDatum& datum, std::string_view user_xml, std::string_view date) {
  const std::string colors = datum.colors > 0 ? fmt::format("<colors>{}</colors>", datum.colors) : "";
  const std::string spins = datum.spins > 0 ? fmt::format("<spins>{}</spins>", datum.spins) : "";
  lime.text_record("scidac-private-record-xml",
                   fmt::format("{}<scidacRecord><version>1.1</version><date>{} UTC</date><recordtype>0</recordtype>"
                               "<datatype>{}</datatype><precision>{}</precision>{}{}<typesize>{}</typesize>"
                               "<datacount>{}</datacount></scidacRecord>",
                               xml_declaration, xml_escape(date), datum.datatype, datum.real_bytes == 4 ? "F" : "D", colors, spins,
                               datum.typesize, datum.datacount),
                   true, false);
  lime.text_record("scidac-record-xml", user_xml, false, false);
}

void write_scidac_checksum(LimeWriter& lime, const PayloadChecksum& checksum) {
  lime.text_record("scidac-checksum",
                   fmt::format("{}<scidacChecksum><version>1.0</version><suma>{:x}</suma><sumb>{:x}</sumb></scidacChecksum>",
                               xml_declaration, checksum.sums()[0], checksum.sums()[1]),
                   false, true);
}

}  // namespace quarkstar::format
