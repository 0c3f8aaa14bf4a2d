#include "codelets/io/date.hpp"
#include "codelets/io/payload_writer.hpp"
#include "codelets/io/scidac_field.hpp"
#include "codelets/io/xml.hpp"

#include <fmt/format.h>

namespace quarkstar::format {
namespace {

std::string record_xml(const GaugeWriteOptions& options) {
  std::string text = fmt::format(
      "{}<gauge><creator>{}</creator><ensembleId>{}</ensembleId><ensembleLabel>{}</ensembleLabel>"
      "<sequenceNumber>{}</sequenceNumber>",
      xml_declaration, xml_escape(options.creator), xml_escape(options.ensemble_id), xml_escape(options.ensemble_label),
      options.sequence_number);
  if (options.plaquette) text += fmt::format("<plaquette>{:.15g}</plaquette>", *options.plaquette);
  if (options.link_trace) text += fmt::format("<linkTrace>{:.15g}</linkTrace>", *options.link_trace);
  if (!options.info.empty()) text += fmt::format("<info>{}</info>", xml_escape(options.info));
  return text + "</gauge>";
}

std::string ildg_format_xml(const PayloadLayout& layout) {
  return fmt::format(
      "{}<ildgFormat xmlns=\"http://www.lqcd.org/ildg\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""
      " xsi:schemaLocation=\"http://www.lqcd.org/ildg/filefmt.xsd\"><version>1.0</version><field>su3gauge</field>"
      "<precision>{}</precision><lx>{}</lx><ly>{}</ly><lz>{}</lz><lt>{}</lt></ildgFormat>",
      xml_declaration, 8 * layout.real_bytes, layout.extents[0], layout.extents[1], layout.extents[2], layout.extents[3]);
}

}  // namespace

void write_ildg(const std::string& path, const HostGauge& gauge, const GaugeWriteOptions& options) {
  Job& job = Job::current();
  PayloadLayout layout;
  job.together([&] { layout = writer_layout(path, gauge, options, ByteOrder::big); });
  ScidacDatum datum;
  datum.datatype = layout.real_bytes == 4 ? "QDP_F3_ColorMatrix" : "QDP_D3_ColorMatrix";
  datum.real_bytes = layout.real_bytes;
  datum.typesize = static_cast<int>(layout.link_bytes());
  datum.datacount = layout.links_per_record();

  SharedOutput file(job, path);
  std::optional<LimeWriter> lime;
  file.on_root([&] {
    lime.emplace(*file.root());
    write_scidac_file_header(*lime, layout.extents, fmt::format("{}<title>gauge configuration</title>", xml_declaration));
    write_scidac_record_header(*lime, datum, record_xml(options), options.date.empty() ? utc_date() : options.date);
    lime->text_record("ildg-format", ildg_format_xml(layout), false, false);
    if (!options.lfn.empty()) lime->text_record("ildg-data-lfn", options.lfn, false, false);
  });
  write_scidac_data_part(file, lime ? &*lime : nullptr, "ildg-binary-data", layout.extents, sites_to_write(gauge, options),
                         layout.record_bytes(),
                         [&](const Box& slab, std::span<std::byte> out) { encode_box(path, layout, gauge, slab, out); });
  file.commit();
}

}  // namespace quarkstar::format
