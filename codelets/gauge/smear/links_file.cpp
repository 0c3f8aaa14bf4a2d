#include "codelets/gauge/smear/links_file.hpp"

#include "codelets/io/link_field_file.hpp"
#include "codelets/io/text.hpp"
#include "codelets/lattice/portable.hpp"
#include "codelets/su3/matrix.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <span>
#include <sstream>

namespace quarkstar::smear {
namespace {

constexpr double largest_deviation = 1e-5;  // single-precision files stay below 1e-6

std::string file_xml(const char* field, const StaggeredLinks& links, const LinksFileOptions& options) {
  std::string text =
      fmt::format(R"(<?xml version="1.0" encoding="UTF-8"?><staggeredLinks><version>1.0</version><field>{}</field><action>{}</action>)"
                  "<phases>MILC</phases><boundaryAngles>{}</boundaryAngles>",
                  field, format::xml_escape(options.action), fmt::join(options.boundary, " "));
  if (options.u0) text += fmt::format("<u0>{}</u0>", *options.u0);
  if (links.has_long) text += fmt::format("<naikEpsilon>{}</naikEpsilon><longScale>{}</longScale>", links.naik_epsilon, links.long_scale);
  return text + "</staggeredLinks>";
}

/// |N_ij|^2 summed over a link is 3 scale^2.
double scale_of(std::span<const double, 18> link) {
  double sum = 0;
  for (const double real : link) sum += real * real;
  return std::sqrt(sum / 3);
}

/// Largest entry of N N^+ / scale^2 - 1.
double deviation(std::span<const double, 18> link, double scale) {
  const site::Link<double> n = site::read_link(link.data()), product = multiply_adjoint(n, n);
  const double scale2 = scale * scale;
  double largest = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      largest = std::max(largest, portable::modulus(product[i][j].re / scale2 - (i == j ? 1.0 : 0.0), product[i][j].im / scale2));
  return largest;
}

/// All links of the part must be `scale` times unitary matrices.
void require_scale(const std::string& path, const HostGauge& links, double scale, const Coord& lattice, const Box& part) {
  for (std::int64_t i = 0; i < volume(part.extents); ++i) {
    const Coord site = site_of(part, i);
    for (int mu = 0; mu < 4; ++mu) {
      if (scale > 0 && deviation(links.link(index_in(links.box(), site, lattice), mu), scale) < largest_deviation) continue;
      throw Error(ErrorKind::input, path,
                  fmt::format("the link U_{} at (x,y,z,t) = ({}) is not {:.6g} times a unitary matrix, as the first one is", "xyzt"[mu],
                              fmt::join(site, ","), scale),
                  "give the file of the long links");
    }
  }
}

}  // namespace

std::string fat_path(const std::string& prefix) { return prefix + ".fat"; }
std::string long_path(const std::string& prefix) { return prefix + ".long"; }

void write_links(const std::string& prefix, const StaggeredLinks& links, const LinksFileOptions& options) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  const format::GaugePart part = options.part.value_or(format::GaugePart{links.fat.extents, links.fat.box()});
  runtime::mpi::SharedOutput fat(job, fat_path(prefix));
  std::optional<runtime::mpi::SharedOutput> long_file;
  if (links.has_long) long_file.emplace(job, long_path(prefix));
  format::write_link_field(fat, links.fat, part, options.real_bytes, {file_xml("fat", links, options), "Fat links"});
  if (long_file)
    format::write_link_field(*long_file, links.long_links, part, options.real_bytes, {file_xml("long", links, options), "Long links"});
  fat.commit();
  if (long_file) long_file->commit();
}

LinksHeader read_links_header(const std::string& path) {
  const format::LinkFieldHeader read = format::read_link_field_header(path);
  LinksHeader header;
  header.path = path;
  header.extents = read.extents;
  if (read.text.file.find("<staggeredLinks>") == std::string::npos) return header;
  const format::XmlValues xml(path + " (scidac-file-xml)", read.text.file);
  const auto real = [&xml](const char* name) {
    const auto text = xml.text(name);
    const auto value = text ? format::parse_real(*text) : std::nullopt;
    if (text && !value) xml.reject(name, "a number");
    return value;
  };
  header.field = xml.text("field");
  header.action = xml.text("action");
  header.phases = xml.text("phases");
  header.naik_epsilon = real("naikEpsilon");
  header.u0 = real("u0");
  if (const auto text = xml.text("boundaryAngles")) {
    std::istringstream words(*text);
    BoundaryAngles& angles = header.boundary.emplace();
    std::string word;
    std::size_t count = 0;
    for (; words >> word; ++count) {
      const auto angle = format::parse_real(word);
      if (count == angles.size() || !angle) xml.reject("boundaryAngles", "four numbers");
      angles[count] = *angle;
    }
    if (count != angles.size()) xml.reject("boundaryAngles", "four numbers");
  }
  return header;
}

StaggeredLinks read_links(const std::string& fat_file, const std::optional<std::string>& long_file) {
  StaggeredLinks result;
  result.fat = format::read_link_field(fat_file).links;
  if (!long_file) return result;
  format::LinkFieldRead read = format::read_link_field(*long_file);
  if (read.links.extents != result.fat.extents)
    throw Error(ErrorKind::input, *long_file,
                fmt::format("its lattice is {}, that of {} is {}", fmt::join(read.links.extents, "x"), fat_file,
                            fmt::join(result.fat.extents, "x")),
                "give fat and long links of one configuration");
  const double scale = scale_of(read.links.link(0, 0));
  require_scale(*long_file, read.links, scale, read.links.extents, read.links.box());
  result.long_scale = -scale;
  result.naik_epsilon = read_links_header(*long_file).naik_epsilon.value_or(0);
  result.long_links = std::move(read.links);
  result.has_long = true;
  return result;
}

std::array<Box, 2> boxes_from_files(const runtime::Decomposition& decomposition) {
  const Coord& lattice = decomposition.lattice();
  const Box part = decomposition.part();
  return {with_border(part, lattice, longest_hop(false), 2), hops_box(part, lattice, longest_hop(true))};
}

StaggeredLinks read_links_part(const std::string& fat_file, const std::string& long_file, const runtime::Decomposition& decomposition) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  const Coord& lattice = decomposition.lattice();
  const Box part = decomposition.part();
  StaggeredLinks result;
  result.has_long = true;
  const auto [fat, far] = boxes_from_files(decomposition);
  result.fat = format::read_link_field_part(fat_file, lattice, part, fat);
  result.long_links = format::read_link_field_part(long_file, lattice, part, far);
  // One rank has the lattice's first link.
  double scale = part.origin == Coord{} ? scale_of(result.long_links.link(index_in(result.long_links.box(), {}, lattice), 0)) : 0;
  job.combine(std::span(&scale, 1), runtime::mpi::Combine::sum);
  job.together([&] {
    require_scale(long_file, result.long_links, scale, lattice, part);
    result.naik_epsilon = read_links_header(long_file).naik_epsilon.value_or(0);
  });
  result.long_scale = -scale;
  return result;
}

}  // namespace quarkstar::smear
