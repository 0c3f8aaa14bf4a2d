#pragma once
// Wilson quark propagators in SciDAC files, in the USQCD form that MILC, CPS and other QIO users read.
#include "codelets/io/scidac_field.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::format {

struct PropagatorWriteOptions {
  int real_bytes = 8;       ///< 4 (IEEE single) or 8 (IEEE double)
  std::string file_info;    ///< free text for <info> of usqcdPropFile: action, kappa, boundary, ...
  std::string source_info;  ///< free text for <info> of the source record
  std::string column_info;  ///< free text for <info> of each column
  std::string date;         ///< as from utc_date(); empty: now
  std::optional<Box> part;  ///< sites of this rank; none: all
};

/// Writes a file of type USQCD_DiracFermion_ScalarSource_TwelveSink (QIO's C1D12), single-file volume:
/// usqcdPropFile; one complex field eta(x), record usqcdSourceInfo; then twelve Dirac fermions, source spin slowest,
/// records usqcdPropInfo with <spin>, <color>. Column (s, c) is M^-1 applied to eta(x) delta_ss' delta_cc'. Spinors are
/// [spin][colour][re,im] in the DeGrand-Rossi basis; datatype USQCD_{F,D}3_DiracFermion, big-endian, checksums. The
/// file appears only with commit(). On several ranks its calls are collective, and each rank gives the sites of its part. Throws what
/// AtomicFile throws, ShapeError for fields of wrong size. Source: QIO API document 2.3 and qioxml_usqcd_prop.h; the record layout is the
/// one CPS writes.
class PropagatorWriter {
 public:
  PropagatorWriter(const std::string& path, const Coord& extents, PropagatorWriteOptions options = {});

  /// eta(x), two reals for each site of the part, lexicographic. Before all columns.
  void write_source(std::span<const double> eta);
  /// The next column: spin 0..3 slowest, colour 0..2 fastest; 24 reals for each site of the part, lexicographic.
  void write_column(int spin, int colour, std::span<const double> spinor);
  /// After all twelve columns.
  void commit();

 private:
  void expect_step(int step) const;
  void write_field(const ScidacDatum& datum, const std::string& user_xml, std::span<const double> field);

  std::string path_;
  Coord extents_;
  PropagatorWriteOptions options_;
  runtime::mpi::SharedOutput file_;
  std::optional<LimeWriter> lime_;  ///< on the root
  int step_ = 0;                    ///< records written: source, then columns
};

/// A propagator file opened for reading: C1D12 as above, or pairs of source and sink, whose sources are skipped.
class PropagatorFile {
 public:
  struct Column {
    int spin;
    int colour;
    std::size_t record;  ///< index into description().records
  };

  /// Throws Error(input) for a file without usqcdPropFile or with records that are not Dirac fermions where they should
  /// be.
  explicit PropagatorFile(const std::string& path);
  explicit PropagatorFile(std::unique_ptr<ByteSource> source);

  const Coord& extents() const noexcept { return file_.extents(); }
  const ScidacFile& description() const noexcept { return file_.description(); }
  const std::string& type() const noexcept { return type_; }
  const std::vector<Column>& columns() const noexcept { return columns_; }

  /// 24 doubles for each site. Throws Error(input) if the file has no such column or it is damaged.
  HostReals read_column(int spin, int colour, ChecksumPolicy policy = ChecksumPolicy::enforce) const;
  /// eta(x) of a C1D12 file, two doubles for each site.
  HostReals read_source(ChecksumPolicy policy = ChecksumPolicy::enforce) const;

 private:
  ScidacFieldFile file_;
  std::string type_;
  std::vector<Column> columns_;
  std::optional<std::size_t> source_;
};

}  // namespace quarkstar::format
