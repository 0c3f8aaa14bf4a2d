#pragma once
// Reading gauge configurations of any supported format.
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/io/gauge_info.hpp"
#include "runtime/system/team.hpp"

#include <memory>
#include <optional>
#include <string>

namespace quarkstar::format {

struct GaugeReadOptions {
  ChecksumPolicy checksums = ChecksumPolicy::enforce;
  /// Extents of a LIME file that states none; ignored where the file states them.
  std::optional<Coord> extents;
};

/// An opened gauge file whose header has been read and compared with the file's length. Reading parts of it does not
/// change it, so several threads or ranks may read at once:
///     GaugeFile file(path);
///     PayloadChecksum sum = file.new_checksum();
///     file.read_records(first, bytes); sum.add(first, bytes); for_each_link(file.info().layout, first, bytes, store);
///     ... merge the sums of all parts, then file.settle(sum).
class GaugeFile {
 public:
  /// Detects the format by its first bytes: NERSC, LIME (SciDAC or ILDG), MILC version 5 or 1, else openQCD or DDalphaAMG.
  /// Throws Error(input) naming the file and the place in it.
  explicit GaugeFile(const std::string& path, const GaugeReadOptions& options = {});
  GaugeFile(std::unique_ptr<ByteSource> source, const GaugeReadOptions& options = {});

  const GaugeFileInfo& info() const noexcept { return info_; }

  PayloadChecksum new_checksum() const;

  /// Stored bytes of whole records (see PayloadLayout) from first_record on; bytes.size() is a multiple of the record
  /// length.
  void read_records(std::int64_t first_record, std::span<std::byte> bytes) const;

  /// Verdicts once the checksum covers all records. Throws Error(input) as the policy demands.
  std::vector<ChecksumVerdict> settle(const PayloadChecksum& checksum) const;

 private:
  std::unique_ptr<ByteSource> source_;
  ChecksumPolicy policy_;
  GaugeFileInfo info_;
};

struct GaugeRead {
  HostGauge gauge;
  GaugeFileInfo info;  ///< with checksum verdicts
};

/// Reads a whole configuration, in chunks of a few MiB, of which each thread of the team reads, checks and converts others. The links are
/// those stored (third row reconstructed where two rows are stored), not reunitarised. Memory: 576 bytes per site, allocated only after the
/// file's length has confirmed the extents. Throws Error(input) for damaged files, wrong checksums and links that are not finite;
/// Error(environment) if memory is short.
GaugeRead read_gauge(const std::string& path, const GaugeReadOptions& options = {}, const runtime::Team& team = runtime::Team({0}));
GaugeRead read_gauge(const GaugeFile& file, const runtime::Team& team = runtime::Team({0}));

}  // namespace quarkstar::format
