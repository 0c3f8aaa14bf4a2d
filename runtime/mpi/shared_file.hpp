#pragma once
// Files that all ranks read and write together, each its own part: MPI-IO, or plain reads and writes where there is one rank.
#include "runtime/cut/coord.hpp"
#include "runtime/mpi/job.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace quarkstar::runtime::mpi {

/// Where the sites of a lattice are in a file: equal records in lexicographic order from `offset` on.
struct SiteRecords {
  std::uint64_t offset = 0;
  std::size_t record_bytes = 0;
  Coord lattice{};
};

/// Its calls are collective, and for times when no message between tasks is on its way (Session::wait_all on every rank, then
/// Job::barrier). All ranks throw the same Error. What one call of MPI moves is bounded (sites_a_slab(), of a rank that reads, of all that
/// write), so that a slow file system looks different from a hang.
class SharedFile {
 public:
  enum class Mode { read, write };
  /// write: the root has made the file, and its path counts. name: what errors call the file, where its path is for a time only. Throws
  /// Error(input) if it cannot be opened on some rank.
  SharedFile(Job& job, const std::string& path, Mode mode, const std::string& name = {});
  /// A file that is still open stays so until the job ends: this rank has failed on its own, and others may never come to close it too.
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  /// The records of a box inside the lattice, x fastest. write: the boxes of all ranks make up the lattice, and records.offset is the
  /// root's. Throws Error(environment) when the file system fails, or the file ends before the records.
  void read(const SiteRecords& records, const Box& box, std::span<std::byte> out);
  void write(const SiteRecords& records, const Box& box, std::span<const std::byte> bytes);

  using Take = std::function<void(const Box& slab, std::span<const std::byte> bytes)>;
  using Fill = std::function<void(const Box& slab, std::span<std::byte> bytes)>;
  /// The same slab by slab, so that the records never need much memory: take() what has been read, fill() what will be written. What they
  /// throw on one rank all ranks throw. Ranks may read different numbers of boxes, also none.
  void read_slabs(const SiteRecords& records, std::span<const Box> boxes, const Take& take);
  void read_slabs(const SiteRecords& records, const Box& box, const Take& take) { read_slabs(records, std::span(&box, 1), take); }
  void write_slabs(const SiteRecords& records, const Box& box, const Fill& fill);

  /// After the last call. Every rank flushes what it has written (the root can flush only what its own host has, and a file renamed without
  /// may lack the parts of others), and where there are several reads it back. Throws Error(environment) where only now it shows that the
  /// file system could not write.
  void close();

  /// Closes the file as it is, where all ranks have failed.
  void release() noexcept;

 private:
  struct Native;
  /// start(slab): its bytes, before they move; finish(slab, bytes): after.
  template <bool Write, class Start, class Finish>
  void transfer(SiteRecords records, std::span<const Box> boxes, Start&& start, Finish&& finish);

  Job& job_;
  std::string path_, name_;
  Mode mode_;
  std::unique_ptr<Native> native_;
};

}  // namespace quarkstar::runtime::mpi
