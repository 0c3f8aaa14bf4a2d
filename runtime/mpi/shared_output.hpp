#pragma once
// Output files that many ranks write together: complete, or absent.
#include "runtime/mpi/shared_file.hpp"
#include "runtime/system/atomic_file.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace quarkstar::runtime::mpi {

/// The root makes the file and writes what comes only once, headers and checksums; sites come from all ranks. Its calls are collective, for
/// times when no message between tasks is on its way; every rank throws the same Error.
class SharedOutput {
 public:
  /// Throws what AtomicFile throws.
  SharedOutput(Job& job, const std::string& path);

  /// The file on the root, nullptr on the other ranks. Call it, like all work on it, within on_root().
  AtomicFile* root() { return file_ ? &*file_ : nullptr; }
  /// Job::on_root, after whose failure the ranks close what they have open.
  void on_root(const std::function<void()>& work);

  const std::string& path() const { return path_; }

  /// Every rank's box of the sites. records.offset: the root's; the root has left room there. bytes: all of the box, or slab by slab. The
  /// file is opened once, for all fields.
  void fill(const SiteRecords& records, const Box& box, std::span<const std::byte> bytes);
  void fill_slabs(const SiteRecords& records, const Box& box, const SharedFile::Fill& slab);

  /// Makes the file visible under its name, after SharedFile::close(): every rank has flushed its sites and read them back.
  void commit();

 private:
  SharedFile& shared();

  Job& job_;
  std::string path_;
  std::optional<AtomicFile> file_;
  std::optional<SharedFile> shared_;  ///< from the first field on
};

}  // namespace quarkstar::runtime::mpi
