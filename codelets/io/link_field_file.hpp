#pragma once
// Four colour matrices per site in SciDAC files, of any kind: links that smearing has taken out of SU(3).
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/io/gauge_writer.hpp"
#include "codelets/io/scidac.hpp"
#include "runtime/mpi/shared_output.hpp"

#include <string>

namespace quarkstar::format {

/// What the user records of a file say; any text.
struct LinkFieldText {
  std::string file;    ///< scidac-file-xml
  std::string record;  ///< scidac-record-xml
};

/// Writes a whole SciDAC file into `file`, which the caller commits: QDP_{F,D}3_ColorMatrix, four per site, mu = x, y, z, t,
/// big-endian, with checksum; the form in which MILC saves fat and long links. real_bytes: 4 or 8. part: what this rank writes; `links`
/// hold it. Collective. Throws ShapeError if links.data does not match links.extents, Error(input) for a number that is not finite in that
/// precision.
void write_link_field(runtime::mpi::SharedOutput& file, const HostGauge& links, const GaugePart& part, int real_bytes,
                      const LinkFieldText& text);

struct LinkFieldRead {
  HostGauge links;
  LinkFieldText text;
};

/// What such a file says without its data.
struct LinkFieldHeader {
  Coord extents{};
  LinkFieldText text;
};
/// Throws as read_link_field() does.
LinkFieldHeader read_link_field_header(const std::string& path);

/// Reads such a file, checksum verified. Nothing is demanded of the matrices but finite entries.
/// Throws Error(input) for a file of another kind or a damaged one, Error(environment) if memory is short.
LinkFieldRead read_link_field(const std::string& path);

/// Collective. The links of a box that holds this rank's part of the lattice and may reach over its edges; the parts of all ranks are the
/// lattice. Throws the same, on all ranks, and Error(input) for a file of another lattice.
HostGauge read_link_field_part(const std::string& path, const Coord& lattice, const Box& part, const Box& box);

}  // namespace quarkstar::format
