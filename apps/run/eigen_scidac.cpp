#include "apps/run/eigen_scidac.hpp"

#include "apps/run/outputs.hpp"
#include "apps/run/report.hpp"
#include "codelets/io/part_checksum.hpp"
#include "codelets/io/reals.hpp"
#include "codelets/io/xml.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <utility>

namespace quarkstar::app {
namespace {

constexpr std::string_view no_date = "Thu Jan  1 00:00:00 1970";

format::ScidacDatum datum_of(const EigenHeader& header) {
  const bool spinors = header.components == spinor_components;
  format::ScidacDatum datum;
  datum.real_bytes = header.stored == Precision::single ? 4 : 8;
  datum.datatype = fmt::format("USQCD_{}3_{}", datum.real_bytes == 4 ? "F" : "D", spinors ? "DiracFermion" : "ColorVector");
  datum.spins = spinors ? 4 : 1;
  datum.typesize = 2 * header.components * datum.real_bytes;
  return datum;
}

std::string file_xml(const EigenHeader& header, std::span<const std::uint32_t> checksums, std::string_view program) {
  return fmt::format(
      "{}<quarkstarEigenvectors><version>1</version><problem>{}</problem><parity>{}</parity><modes>{}</modes><components>{}</components>"
      "<precision>{}</precision><checksum>{}</checksum><program>{}</program></quarkstarEigenvectors>",
      format::xml_declaration, format::xml_escape(header.problem), header.parity, header.values.size(), header.components,
      name_of(header.stored), header_checksum(header, checksums), format::xml_escape(program));
}

std::string record_xml(const EigenHeader& header, std::size_t number) {
  return fmt::format(
      "{}<quarkstarEigenvector><number>{}</number><eigenvalue>{:.17g}</eigenvalue><residual>{:.17g}</residual></quarkstarEigenvector>",
      format::xml_declaration, number, header.values[number], header.residuals[number]);
}

double real_in(const format::XmlValues& xml, std::string_view name) {
  const std::string text = xml.text(name).value_or("");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) xml.reject(name, "a number");
  return value;
}

int integer_in(const format::XmlValues& xml, std::string_view name, int least, int most) {
  const std::optional<std::int64_t> value = xml.integer(name);
  if (!value || *value < least || *value > most) xml.reject(name, fmt::format("a number from {} to {}", least, most));
  return static_cast<int>(*value);
}

}  // namespace

void write_scidac_modes(const std::string& path, const EigenHeader& header, int block, const Box& part, const EigenVectorsOf& of) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  job.together([&] { check_storable(path, header.stored, header.slices); });
  const format::ScidacDatum datum = datum_of(header);
  const int modes = static_cast<int>(header.values.size());
  const auto each = [&](const std::function<void(std::size_t number, const HostField& mode)>& use) {
    HostField mode(header.components, part);
    for (int first = 0; first < modes; first += block) {
      std::size_t number = static_cast<std::size_t>(first);
      for (const StoredVector& vector : of(first, std::min(block, modes - first))) {
        expand(mode, vector, header.parity, header.stored);
        use(number++, mode);
      }
    }
  };
  std::vector<std::uint32_t> checksums;  // stand before the modes, which therefore are asked for twice
  std::vector<std::byte> bytes(static_cast<std::size_t>(volume(part.extents)) * datum.site_bytes());
  each([&](std::size_t, const HostField& mode) {
    format::PayloadChecksum mine(format::ChecksumKind::scidac, format::ByteOrder::big, datum.site_bytes());
    format::encode_reals(datum.real_bytes, reals_of(mode), format::ByteOrder::big, bytes.data());
    format::add_box(mine, part, header.lattice, bytes);
    for (const std::uint32_t sum : format::over_ranks(job, mine).sums()) checksums.push_back(sum);
  });
  runtime::mpi::SharedOutput out(job, path);
  std::optional<format::LimeWriter> lime;
  out.on_root([&] {
    lime.emplace(*out.root());
    format::write_scidac_file_header(*lime, header.lattice, file_xml(header, checksums, version_line()));
  });
  each([&](std::size_t number, const HostField& mode) {
    format::write_scidac_field_part(out, lime ? &*lime : nullptr, header.lattice, part, datum, record_xml(header, number), no_date,
                                    reals_of(mode), part);
  });
  out.commit();
}

ScidacModes::ScidacModes(const std::string& path, const std::string& remedy) : file_(path) {
  const auto refuse = [&](const std::string& what) { throw Error(ErrorKind::input, path, what, remedy); };
  const std::string text = file_.file_text();
  if (text.find("<quarkstarEigenvectors>") == std::string::npos) refuse("this is no file of eigenvectors of this version");
  const format::XmlValues xml(path + " (scidac-file-xml)", text);
  header_.problem = xml.text("problem").value_or("");
  header_.lattice = file_.extents();
  header_.parity = integer_in(xml, "parity", 0, both_parities);
  header_.components = integer_in(xml, "components", colour_components, spinor_components);
  if (header_.components != colour_components && header_.components != spinor_components)
    refuse(fmt::format("it has vectors of {} components", header_.components));
  header_.stored = xml.text("precision") == name_of(Precision::single) ? Precision::single : Precision::double_;
  const std::vector<format::ScidacRecord>& records = file_.description().records;
  const std::int64_t modes = xml.integer("modes").value_or(-1);
  if (modes != static_cast<std::int64_t>(records.size())) refuse(fmt::format("it has {} of {} vectors", records.size(), modes));
  for (std::size_t i = 0; i < records.size(); ++i) {
    const format::XmlValues of_mode(fmt::format("{}: record {} (scidac-record-xml)", path, i), file_.record_text(records[i]));
    header_.values.push_back(real_in(of_mode, "eigenvalue"));
    header_.residuals.push_back(real_in(of_mode, "residual"));
    if (!records[i].checksum) refuse(fmt::format("vector {} has no checksum", i));
    for (const std::uint32_t sum : *records[i].checksum) checksums_.push_back(sum);
  }
  // What is written must be as it was, not only be understood. Padding, and what QIO alone reads, nobody looks at.
  bool same = text == file_xml(header_, checksums_, xml.text("program").value_or(""));
  for (std::size_t i = 0; i < records.size(); ++i) same = same && file_.record_text(records[i]) == record_xml(header_, i);
  if (!same) refuse("what it says does not match its checksum");
}

HostField ScidacModes::read(int number, const Box& part) const {
  const HostReals reals =
      file_.read_part(file_.description().records[static_cast<std::size_t>(number)], 2 * header_.components, part, part);
  HostField mode(header_.components, part);
  for (std::size_t i = 0; i < mode.data.size(); ++i) mode.data[i] = {reals[2 * i], reals[2 * i + 1]};
  return mode;
}

}  // namespace quarkstar::app
