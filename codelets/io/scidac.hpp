#pragma once
// SciDAC (QIO) and ILDG conventions on top of LIME: which records describe which data.
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/io/checksum.hpp"
#include "codelets/io/layout.hpp"
#include "codelets/io/lime.hpp"
#include "codelets/io/xml.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quarkstar::format {

/// scidac-private-record-xml: what kind of data a record holds. All fields may be missing.
struct ScidacRecordInfo {
  std::string where;
  std::optional<std::string> datatype;      ///< QDP_F3_ColorMatrix, USQCD_D3_DiracFermion, ...
  std::optional<std::string> precision;     ///< F or D
  std::optional<std::int64_t> record_type;  ///< 0 field, 1 global data, 2 hypercube (called globaldata in version 1.0)
  std::optional<std::int64_t> colors;
  std::optional<std::int64_t> spins;
  std::optional<std::int64_t> typesize;   ///< bytes of one datum
  std::optional<std::int64_t> datacount;  ///< data per site

  /// 4 or 8 from `precision`; nothing if it is missing. Error(input) for anything but F and D.
  std::optional<int> real_bytes() const;
};

/// One data record with what belongs to it.
struct ScidacRecord {
  LimeRecord data;
  std::optional<ScidacRecordInfo> info;
  std::optional<LimeRecord> user_xml;                    ///< scidac-record-xml
  std::optional<std::array<std::uint32_t, 2>> checksum;  ///< suma, sumb
};

/// ildg-format: field, precision and extents. All fields may be missing.
struct IldgFormat {
  std::string where;
  std::optional<std::string> field;
  std::optional<std::int64_t> precision;
  std::optional<std::array<std::int64_t, 4>> extents;
};

/// The description of a SciDAC or ILDG file: everything but the data.
struct ScidacFile {
  std::optional<std::array<std::int64_t, 4>> dims;  ///< of scidac-private-file-xml
  std::string dims_where;
  std::optional<LimeRecord> user_file_xml;  ///< scidac-file-xml
  std::optional<IldgFormat> ildg;
  std::string lfn;  ///< ildg-data-lfn
  std::vector<ScidacRecord> records;
  std::vector<std::pair<std::string, std::string>> header;  ///< values of all XML documents in file order
  std::vector<std::string> notes;
};

/// Longest private XML record, and longest user record that is kept.
constexpr std::size_t longest_xml = 64 * 1024;

/// Walks the records of a file and reads all XML. Record order is free: information and checksum belong to the data
/// record that they stand around, and with a single data record in the file to that one wherever they stand. Throws
/// Error(input) for damaged records and for QIO's multi-file volumes.
ScidacFile scan_scidac(const ByteSource& source);

/// What QIO needs to know of a data record that is written.
struct ScidacDatum {
  std::string datatype;
  int real_bytes = 8;
  int colors = 3;
  int spins = 0;      ///< 0: not stated
  int typesize = 0;   ///< bytes of one datum
  int datacount = 1;  ///< data per site

  std::size_t site_bytes() const { return static_cast<std::size_t>(typesize) * static_cast<std::size_t>(datacount); }
};

/// scidac-private-file-xml and scidac-file-xml: the start of a file. user_xml is stored as it is.
void write_scidac_file_header(LimeWriter& lime, const Coord& extents, std::string_view user_xml);

/// scidac-private-record-xml and scidac-record-xml: the start of a record. date: as from utc_date().
void write_scidac_record_header(LimeWriter& lime, const ScidacDatum& datum, std::string_view user_xml, std::string_view date);

/// The scidac-checksum record behind data.
void write_scidac_checksum(LimeWriter& lime, const PayloadChecksum& checksum);

}  // namespace quarkstar::format
