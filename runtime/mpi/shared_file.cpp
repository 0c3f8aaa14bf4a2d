#include "runtime/mpi/shared_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "runtime/atomic_file.hpp"
#include "runtime/mpi/native.hpp"

namespace quarkstar::runtime::mpi {

struct SharedFile::Native {
  MPI_File file = MPI_FILE_NULL;
  int descriptor = -1;  ///< where there is one rank
};

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what, int code) {
  throw Error(ErrorKind::environment, path, what + " failed: " + std::generic_category().message(code), "check the file system and try again");
}

/// pread or pwrite until everything is done.
template <bool Write, class Byte>
void move_all(const std::string& path, int descriptor, std::uint64_t offset, std::span<Byte> bytes) {
  while (!bytes.empty()) {
    ssize_t moved = 0;
    if constexpr (Write) moved = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    else moved = ::pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0 && Write) throw_write_error(path, "writing", errno);
    if (moved <= 0) fail(path, "reading", moved < 0 ? errno : EIO);
    offset += static_cast<std::uint64_t>(moved);
    bytes = bytes.subspan(static_cast<std::size_t>(moved));
  }
}

/// MPI's description of a box of a lattice.
class BoxType {
 public:
  BoxType(const SiteRecords& records, const Box& box) {
    int sizes[4], parts[4], starts[4];
    for (int mu = 0; mu < 4; ++mu) {  // MPI's last index runs fastest
      sizes[3 - mu] = records.lattice[mu];
      parts[3 - mu] = box.extents[mu];
      starts[3 - mu] = box.origin[mu];
    }
    check(MPI_Type_contiguous(static_cast<int>(records.record_bytes), MPI_BYTE, &record), "MPI_Type_contiguous");
    MPI_Type_commit(&record);
    check(MPI_Type_create_subarray(4, sizes, parts, starts, MPI_ORDER_C, record, &sites), "MPI_Type_create_subarray");
    MPI_Type_commit(&sites);
  }
  ~BoxType() {
    MPI_Type_free(&sites);
    MPI_Type_free(&record);
  }
  MPI_Datatype record = MPI_DATATYPE_NULL, sites = MPI_DATATYPE_NULL;
};

}  // namespace

SharedFile::SharedFile(Job& job, const std::string& path, Mode mode) : job_(job), path_(path), native_(nullptr) {
  auto native = std::make_unique<Native>();
  job.together([&] {
    // Opened by the system first: its errors say more than MPI's.
    native->descriptor = ::open(path.c_str(), (mode == Mode::write ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    if (native->descriptor < 0)
      throw Error(ErrorKind::input, path, "opening failed: " + std::generic_category().message(errno),
                  "every rank must see this file: use a file system that all hosts share");
  });
  if (job.is_distributed() && !job.is_fake()) {
    ::close(native->descriptor);
    native->descriptor = -1;
    const Job::Waiting waiting(job, "MPI_File_open");
    const std::lock_guard lock(job.library());
    check(MPI_File_open(job.native().control, path.c_str(), mode == Mode::write ? MPI_MODE_WRONLY : MPI_MODE_RDONLY, MPI_INFO_NULL, &native->file),
          path);
  }
  native_ = native.release();
}

SharedFile::~SharedFile() {
  if (native_->descriptor >= 0) ::close(native_->descriptor);
  if (native_->file != MPI_FILE_NULL) {
    const std::lock_guard lock(job_.library());
    MPI_File_close(&native_->file);
  }
  delete native_;
}

template <bool Write, class Byte>
void SharedFile::transfer(const SiteRecords& records, const Box& box, std::span<Byte> bytes) {
  job_.together([&] {
    if (native_->file == MPI_FILE_NULL) {
      // Sites that follow each other in the file: rows, or more where the box has the lattice's extents.
      std::int64_t sites = box.extents[0];
      for (int mu = 1; mu < 4 && box.extents[mu - 1] == records.lattice[mu - 1]; ++mu) sites *= box.extents[mu];
      const auto row = static_cast<std::size_t>(sites) * records.record_bytes;
      for (std::int64_t i = 0; i < volume(box.extents) / sites; ++i) {
        Coord site = coordinates(i * sites, box.extents);
        for (int mu = 0; mu < 4; ++mu) site[mu] += box.origin[mu];
        const auto first = static_cast<std::uint64_t>(lexicographic(site, records.lattice));
        move_all<Write>(path_, native_->descriptor, records.offset + first * records.record_bytes, bytes.subspan(static_cast<std::size_t>(i) * row, row));
      }
      return;
    }
    const Job::Waiting waiting(job_, Write ? "MPI_File_write_all" : "MPI_File_read_all");
    const std::lock_guard lock(job_.library());
    const BoxType type(records, box);
    const int count = static_cast<int>(volume(box.extents));
    check(MPI_File_set_view(native_->file, static_cast<MPI_Offset>(records.offset), type.record, type.sites, "native", MPI_INFO_NULL), path_);
    if constexpr (Write) {
      check(MPI_File_write_all(native_->file, bytes.data(), count, type.record, MPI_STATUS_IGNORE), path_ + ": writing");
      // The root can flush only what its own host has: without this a renamed file may lack the parts of others.
      check(MPI_File_sync(native_->file), path_ + ": flushing");
    } else check(MPI_File_read_all(native_->file, bytes.data(), count, type.record, MPI_STATUS_IGNORE), path_ + ": reading");
  });
}

void SharedFile::read(const SiteRecords& records, const Box& box, std::span<std::byte> out) { transfer<false>(records, box, out); }
void SharedFile::write(const SiteRecords& records, const Box& box, std::span<const std::byte> bytes) { transfer<true>(records, box, bytes); }

}  // namespace quarkstar::runtime::mpi
