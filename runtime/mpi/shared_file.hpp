#pragma once
// Files that all ranks read and write together, each its own part: MPI-IO, or plain reads and writes where there is one rank.
#include <cstdint>
#include <span>
#include <string>

#include "runtime/coord.hpp"
#include "runtime/mpi/job.hpp"

namespace quarkstar::runtime::mpi {

/// Where the sites of a lattice are in a file: equal records in lexicographic order from `offset` on.
struct SiteRecords {
  std::uint64_t offset = 0;
  std::size_t record_bytes = 0;
  Coord lattice{};
};

/// Its calls are collective, and for times when no message between tasks is on its way (Session::wait_all on every rank, then
/// Job::barrier). All ranks throw the same Error.
class SharedFile {
 public:
  enum class Mode { read, write };
  /// write: the file exists (AtomicFile made it). Throws Error(input) if it cannot be opened on some rank.
  SharedFile(Job& job, const std::string& path, Mode mode);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  /// The records of a box inside the lattice, x fastest. Throws Error(environment) when the file system fails.
  void read(const SiteRecords& records, const Box& box, std::span<std::byte> out);
  void write(const SiteRecords& records, const Box& box, std::span<const std::byte> bytes);

 private:
  struct Native;
  template <bool Write, class Byte>
  void transfer(const SiteRecords& records, const Box& box, std::span<Byte> bytes);

  Job& job_;
  std::string path_;
  Native* native_;
};

}  // namespace quarkstar::runtime::mpi
