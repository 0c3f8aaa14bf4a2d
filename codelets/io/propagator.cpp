#include "codelets/io/propagator.hpp"

#include "codelets/io/date.hpp"
#include "codelets/io/text.hpp"
#include "codelets/io/xml.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::format {
namespace {

constexpr int spins = 4;
constexpr int colours = 3;
constexpr int columns_per_propagator = spins * colours;
constexpr int spinor_reals = 2 * columns_per_propagator;
constexpr int complex_reals = 2;

constexpr std::string_view one_source_twelve_sinks = "USQCD_DiracFermion_ScalarSource_TwelveSink";

std::string file_xml(const PropagatorWriteOptions& options) {
  return fmt::format("{}<usqcdPropFile><version>1.0</version><type>{}</type><info>{}</info></usqcdPropFile>", xml_declaration,
                     one_source_twelve_sinks, xml_escape(options.file_info));
}

/// Documents decide what a user record is; QIO once called usqcdPropInfo usqcdInfo.
bool is_source_record(std::string_view xml) { return xml.find("<usqcdSourceInfo") != std::string_view::npos; }
bool is_sink_record(std::string_view xml) {
  return xml.find("<usqcdPropInfo") != std::string_view::npos || xml.find("<usqcdInfo") != std::string_view::npos;
}

int index_field(const XmlValues& xml, std::string_view name, int limit, int otherwise) {
  const auto value = xml.integer(name);
  if (!value) return otherwise;
  if (*value < 0 || *value >= limit) xml.reject(name, fmt::format("in 0..{}", limit - 1));
  return static_cast<int>(*value);
}

}  // namespace

PropagatorWriter::PropagatorWriter(const std::string& path, const Coord& extents, PropagatorWriteOptions options)
    : path_(path),
      extents_(checked_extents(path, {extents[0], extents[1], extents[2], extents[3]})),
      options_(std::move(options)),
      file_(runtime::mpi::Job::current(), path) {
  if (options_.real_bytes != 4 && options_.real_bytes != 8) {
    throw Error(ErrorKind::input, path, fmt::format("reals have 4 or 8 bytes (real_bytes = {})", options_.real_bytes),
                "choose single or double precision");
  }
  if (options_.date.empty()) options_.date = utc_date();
  file_.on_root([this] {
    lime_.emplace(*file_.root());
    write_scidac_file_header(*lime_, extents_, file_xml(options_));
  });
}

void PropagatorWriter::expect_step(int step) const {
  if (step == step_) return;
  throw Error(ErrorKind::internal, path_, fmt::format("propagator records out of order (got number {}, expected {})", step, step_),
              "this is a defect: please report it");
}

void PropagatorWriter::write_field(const ScidacDatum& datum, const std::string& user_xml, std::span<const double> field) {
  const Box part = options_.part.value_or(Box{{}, extents_});
  write_scidac_field_part(file_, lime_ ? &*lime_ : nullptr, extents_, part, datum, user_xml, options_.date, field, part);
}

void PropagatorWriter::write_source(std::span<const double> eta) {
  expect_step(0);
  ScidacDatum datum;
  datum.datatype = options_.real_bytes == 4 ? "USQCD_F3_Complex" : "USQCD_D3_Complex";
  datum.real_bytes = options_.real_bytes;
  datum.colors = 0;
  datum.typesize = complex_reals * options_.real_bytes;
  write_field(datum,
              fmt::format("{}<usqcdSourceInfo><version>1.0</version><info>{}</info></usqcdSourceInfo>", xml_declaration,
                          xml_escape(options_.source_info)),
              eta);
  ++step_;
}

void PropagatorWriter::write_column(int spin, int colour, std::span<const double> spinor) {
  expect_step(1 + colours * spin + colour);
  ScidacDatum datum;
  datum.datatype = options_.real_bytes == 4 ? "USQCD_F3_DiracFermion" : "USQCD_D3_DiracFermion";
  datum.real_bytes = options_.real_bytes;
  datum.spins = spins;
  datum.typesize = spinor_reals * options_.real_bytes;
  write_field(datum,
              fmt::format("{}<usqcdPropInfo><version>1.0</version><spin>{}</spin><color>{}</color><info>{}</info></usqcdPropInfo>",
                          xml_declaration, spin, colour, xml_escape(options_.column_info)),
              spinor);
  ++step_;
}

void PropagatorWriter::commit() {
  expect_step(1 + columns_per_propagator);
  file_.commit();
}

PropagatorFile::PropagatorFile(const std::string& path) : PropagatorFile(open_file(path)) {}

PropagatorFile::PropagatorFile(std::unique_ptr<ByteSource> source) : file_(std::move(source)) {
  const XmlValues file_xml(file_.path() + " (scidac-file-xml)", file_.file_text());
  type_ = file_xml.text("type").value_or("");
  if (!type_.starts_with("USQCD_DiracFermion_")) {
    throw Error(ErrorKind::input, file_xml.where(), fmt::format("this is not a USQCD propagator file (type = {})", printable(type_)),
                "give a propagator file of type USQCD_DiracFermion_...");
  }
  const std::vector<ScidacRecord>& records = file_.description().records;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string text = file_.record_text(records[i]);
    if (is_source_record(text)) {
      if (type_ == one_source_twelve_sinks && !source_) source_ = i;
      continue;
    }
    const std::string where = fmt::format("{}: record {} (scidac-record-xml)", file_.path(), i);
    if (!is_sink_record(text)) {
      throw Error(ErrorKind::input, where, "the record is neither usqcdSourceInfo nor usqcdPropInfo", "the file is damaged: copy it again");
    }
    const XmlValues xml(where, text);
    const int place = static_cast<int>(columns_.size()) % columns_per_propagator;
    const Column column{index_field(xml, "spin", spins, place / colours), index_field(xml, "color", colours, place % colours), i};
    const auto same = [&](const Column& c) { return c.spin == column.spin && c.colour == column.colour; };
    if (std::any_of(columns_.begin(), columns_.end(), same)) {
      throw Error(ErrorKind::input, where, fmt::format("the column spin = {} color = {} occurs twice", column.spin, column.colour),
                  "give a file with one propagator");
    }
    columns_.push_back(column);
  }
}

HostReals PropagatorFile::read_column(int spin, int colour, ChecksumPolicy policy) const {
  const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.spin == spin && c.colour == colour; });
  if (found == columns_.end()) {
    throw Error(ErrorKind::input, file_.path(), fmt::format("the file has no column for source spin = {} color = {}", spin, colour),
                "the propagator is incomplete: copy it again or solve for it");
  }
  return file_.read(description().records[found->record], spinor_reals, policy);
}

HostReals PropagatorFile::read_source(ChecksumPolicy policy) const {
  if (!source_) {
    throw Error(ErrorKind::input, file_.path(), fmt::format("the file has no scalar source (type = {})", printable(type_)),
                fmt::format("give a file of type {}", one_source_twelve_sinks));
  }
  return file_.read(description().records[*source_], complex_reals, policy);
}

}  // namespace quarkstar::format
