#include "codelets/io/link_field_file.hpp"

#include "codelets/io/date.hpp"
#include "codelets/io/scidac_field.hpp"
#include "codelets/io/text.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <optional>

namespace quarkstar::format {
namespace {

constexpr int link_reals = 18;
constexpr int links_per_site = 4;

void require_colour_matrices(const ScidacFieldFile& file) {
  const std::vector<ScidacRecord>& records = file.description().records;
  if (records.size() != 1)
    throw Error(ErrorKind::input, file.path(), fmt::format("the file holds {} data records, not one", records.size()),
                "give a file of fat or of long links");
  const auto& info = records.front().info;
  if (info && info->datatype && info->datatype->find("ColorMatrix") == std::string::npos)
    throw Error(ErrorKind::input, info->where, fmt::format("the data are not colour matrices (datatype = {})", printable(*info->datatype)),
                "give a file of fat or of long links");
}

}  // namespace

void write_link_field(runtime::mpi::SharedOutput& file, const HostGauge& links, const GaugePart& part, int real_bytes,
                      const LinkFieldText& text) {
  const Coord extents = checked_extents(file.path(), {part.lattice[0], part.lattice[1], part.lattice[2], part.lattice[3]});
  if (real_bytes != 4 && real_bytes != 8)
    throw Error(ErrorKind::input, file.path(), fmt::format("reals have 4 or 8 bytes (real_bytes = {})", real_bytes),
                "choose single or double precision");
  ScidacDatum datum;
  datum.datatype = real_bytes == 4 ? "QDP_F3_ColorMatrix" : "QDP_D3_ColorMatrix";
  datum.real_bytes = real_bytes;
  datum.typesize = link_reals * real_bytes;
  datum.datacount = links_per_site;
  std::optional<LimeWriter> lime;
  file.on_root([&] {
    lime.emplace(*file.root());
    write_scidac_file_header(*lime, extents, text.file);
  });
  write_scidac_field_part(file, lime ? &*lime : nullptr, extents, part.sites, datum, text.record, utc_date(), links.data, links.box());
}

LinkFieldHeader read_link_field_header(const std::string& path) {
  const ScidacFieldFile file(path);
  require_colour_matrices(file);
  return {file.extents(), {file.file_text(), file.record_text(file.description().records.front())}};
}

LinkFieldRead read_link_field(const std::string& path) {
  const ScidacFieldFile file(path);
  require_colour_matrices(file);
  const ScidacRecord& record = file.description().records.front();
  LinkFieldRead result;
  result.links = {file.extents(), file.read(record, HostGauge::reals_per_site)};
  result.text = {file.file_text(), file.record_text(record)};
  return result;
}

HostGauge read_link_field_part(const std::string& path, const Coord& lattice, const Box& part, const Box& box) {
  std::optional<ScidacFieldFile> file;
  runtime::mpi::Job::current().together([&] {
    file.emplace(path);
    require_colour_matrices(*file);
    if (file->extents() != lattice)
      throw Error(ErrorKind::input, path, fmt::format("its lattice is {}, not {}", describe(file->extents()), describe(lattice)),
                  "give links of this lattice");
  });
  return {box.extents, file->read_part(file->description().records.front(), HostGauge::reals_per_site, part, box), box.origin};
}

}  // namespace quarkstar::format
