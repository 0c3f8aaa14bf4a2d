#pragma once
// Lattice fields of SciDAC files other than gauge fields: staggered colour vectors, Dirac spinors, complex sources.
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/io/byte_source.hpp"
#include "codelets/io/scidac.hpp"
#include "runtime/mpi/shared_output.hpp"

#include <memory>
#include <string>
#include <vector>

namespace quarkstar::format {

/// An opened SciDAC file: its description and access to its fields.
class ScidacFieldFile {
 public:
  /// Reads all records but the data. Throws Error(input) if it is no LIME file or states no four-dimensional extents.
  explicit ScidacFieldFile(const std::string& path);
  explicit ScidacFieldFile(std::unique_ptr<ByteSource> source);

  const std::string& path() const noexcept { return source_->name(); }
  const Coord& extents() const noexcept { return extents_; }
  const ScidacFile& description() const noexcept { return description_; }

  /// Text of scidac-record-xml of a record, or of scidac-file-xml; empty if there is none.
  std::string record_text(const ScidacRecord& record) const;
  std::string file_text() const;

  /// One field, lexicographic (x fastest), reals_per_site doubles for each site: 6 for a colour vector [colour][re,im],
  /// 24 for a spinor [spin][colour][re,im], 2 for a complex number, n times that where a record holds n data per site.
  /// Throws Error(input) if the record has another size, the checksum is wrong or missing, or a number is not finite.
  HostReals read(const ScidacRecord& record, int reals_per_site, ChecksumPolicy policy = ChecksumPolicy::enforce) const;

  /// Collective. The same of a box that holds this rank's part of the lattice and may reach over its edges. The parts of all ranks are
  /// the lattice, so their checksums make up the field's.
  HostReals read_part(const ScidacRecord& record, int reals_per_site, const Box& part, const Box& box) const;

 private:
  std::unique_ptr<ByteSource> source_;
  ScidacFile description_;
  Coord extents_{};
};

/// A data record from many ranks and its checksum: site_bytes per site, of this rank's box; encode: as SharedOutput::fill_slabs().
/// Collective. lime: as below.
void write_scidac_data_part(runtime::mpi::SharedOutput& out, LimeWriter* lime, std::string_view type, const Coord& extents, const Box& box,
                            std::size_t site_bytes, const runtime::mpi::SharedFile::Fill& encode);

/// A whole field from many ranks, as a complete SciDAC record (description, user text, scidac-binary-data, checksum). Collective. lime: on
/// the root, at the end of out's file; nullptr on the other ranks. part: this rank's; field: the sites of `box`, which holds it,
/// lexicographic, datum.site_bytes() / datum.real_bytes doubles for each. Throws ShapeError for a field of another size, Error(input) for a
/// number that is not finite in the file's precision.
void write_scidac_field_part(runtime::mpi::SharedOutput& out, LimeWriter* lime, const Coord& extents, const Box& part,
                             const ScidacDatum& datum, std::string_view user_xml, std::string_view date, std::span<const double> field,
                             const Box& box);

}  // namespace quarkstar::format
