#include "runtime/mpi/shared_file.hpp"

#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/native.hpp"
#include "runtime/mpi/slabs.hpp"
#include "runtime/system/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace quarkstar::runtime::mpi {
namespace {

std::size_t bytes_of(const Box& box, std::size_t record_bytes) { return static_cast<std::size_t>(volume(box.extents)) * record_bytes; }

[[noreturn]] void fail(const std::string& path, const std::string& what, const std::string& why) {
  throw Error(ErrorKind::environment, path, what + " failed: " + why,
              "check the file system, its free space and your permissions, and try again");
}

/// Throws Error(environment) unless a call of MPI-IO ended well.
void check_io(int code, const std::string& path, const char* what) {
  if (code != MPI_SUCCESS) fail(path, what, error_text(code));
}

[[noreturn]] void throw_short(const std::string& path) {
  throw Error(ErrorKind::environment, path, "the file ends before its data do, on this host",
              "it is cut short, or still on its way: copy it again");
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
    if (moved < 0) fail(path, "reading", std::generic_category().message(errno));
    if (moved == 0 && !Write) throw_short(path);
    offset += static_cast<std::uint64_t>(moved);
    bytes = bytes.subspan(static_cast<std::size_t>(moved));
  }
}

/// The records of a box, by the system: rows that follow each other in the file, or more where the box has the lattice's extents.
template <bool Write, class Byte>
void move_rows(const std::string& path, int descriptor, const SiteRecords& records, const Box& box, std::span<Byte> bytes) {
  std::int64_t sites = box.extents[0];
  for (int mu = 1; mu < 4 && box.extents[mu - 1] == records.lattice[mu - 1]; ++mu) sites *= box.extents[mu];
  const auto row = static_cast<std::size_t>(sites) * records.record_bytes;
  for (std::int64_t i = 0; i < volume(box.extents) / sites; ++i) {
    const auto first = static_cast<std::uint64_t>(lexicographic(site_of(box, i * sites), records.lattice));
    move_all<Write>(path, descriptor, records.offset + first * records.record_bytes, bytes.subspan(static_cast<std::size_t>(i) * row, row));
  }
}

/// The bytes of one slab after another, from a span that holds all of them in turn.
template <class Byte>
auto in_turn(std::size_t record_bytes, std::span<Byte> bytes) {
  return [record_bytes, bytes](const Box& slab) mutable {
    const std::span<Byte> part = bytes.first(bytes_of(slab, record_bytes));
    bytes = bytes.subspan(part.size());
    return part;
  };
}

/// Where a slab that has moved needs no more work.
constexpr auto nothing = [](const Box&, auto) {};

/// Of bytes that will be compared with what a file gives back.
std::size_t hash_of(std::span<const std::byte> bytes) {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

struct SharedFile::Native {
  /// A datatype of MPI. Made and freed inside call_mpi().
  class Type {
   public:
    Type() = default;
    Type(const Type&) = delete;
    Type& operator=(const Type&) = delete;
    void clear() {
      if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
    }
    /// make(type): a call that gives a new one.
    template <class Make>
    void set(const char* call, Make&& make) {
      clear();
      check(make(&type_), call);
      check(MPI_Type_commit(&type_), "MPI_Type_commit");
    }
    operator MPI_Datatype() const { return type_; }

   private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
  };

  MPI_File file = MPI_FILE_NULL;
  int descriptor = -1;  ///< where there is one rank
  Type record, sites;
  std::size_t record_bytes = 0;  ///< of `record`
  struct Piece {
    SiteRecords records;
    Box box;
    std::size_t hash;
  };
  std::vector<Piece> written;  ///< by MPI, from this rank

  ~Native() {
    if (descriptor >= 0) ::close(descriptor);
  }

  /// MPI's description of the sites of a box.
  void describe(const SiteRecords& records, const Box& box) {
    if (record_bytes != records.record_bytes)
      record.set("MPI_Type_contiguous",
                 [&](MPI_Datatype* type) { return MPI_Type_contiguous(static_cast<int>(records.record_bytes), MPI_BYTE, type); });
    record_bytes = records.record_bytes;
    int sizes[4], parts[4], starts[4];
    for (int mu = 0; mu < 4; ++mu) {  // MPI's last index runs fastest
      sizes[3 - mu] = records.lattice[mu];
      parts[3 - mu] = box.extents[mu];
      starts[3 - mu] = box.origin[mu];
    }
    sites.set("MPI_Type_create_subarray",
              [&](MPI_Datatype* type) { return MPI_Type_create_subarray(4, sizes, parts, starts, MPI_ORDER_C, record, type); });
  }

  /// The bytes of the box that was described, or none. Errors are looked at when all calls have been made: others wait in each of them.
  template <bool Write, class Byte>
  void move(const std::string& path, std::uint64_t offset, std::span<Byte> bytes) {
    MPI_Status status{};
    const int viewed = MPI_File_set_view(file, static_cast<MPI_Offset>(offset), record, sites, "native", MPI_INFO_NULL);
    const int count = viewed == MPI_SUCCESS ? static_cast<int>(bytes.size() / record_bytes) : 0;
    int moved = MPI_SUCCESS, done = 0;
    if constexpr (Write) moved = MPI_File_write_all(file, bytes.data(), count, record, &status);
    else moved = MPI_File_read_all(file, bytes.data(), count, record, &status);
    check_io(viewed, path, "placing a part");
    check_io(moved, path, Write ? "writing" : "reading");
    if (count == 0) return;
    check_io(MPI_Get_count(&status, record, &done), path, "counting");
    if (done == count) return;
    if (Write) fail(path, "writing", "only a part was written");
    throw_short(path);
  }

  /// Open MPI's own MPI-IO (4.1) reports success for writes that the file system has refused, so all must come back.
  static void require_written(const std::string& path, const std::string& name, const Piece& piece) {
    std::vector<std::byte> bytes(bytes_of(piece.box, piece.records.record_bytes));
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    bool same = descriptor >= 0;
    try {
      if (same) move_rows<false>(path, descriptor, piece.records, piece.box, std::span(bytes));
    } catch (const Error&) {
      same = false;
    }
    if (descriptor >= 0) ::close(descriptor);
    if (!same || hash_of(bytes) != piece.hash) fail(name, "writing", "what was written does not come back from the file system");
  }

  /// Whether the records up to the box's last site are in the file. Open MPI's collective reads do not tell.
  void require_length(const std::string& path, const SiteRecords& records, const Box& box) const {
    MPI_Offset size = 0;
    check_io(MPI_File_get_size(file, &size), path, "asking for the length");
    const auto last = static_cast<std::uint64_t>(lexicographic(site_of(box, volume(box.extents) - 1), records.lattice));
    if (static_cast<std::uint64_t>(size) < records.offset + (last + 1) * records.record_bytes) throw_short(path);
  }
};

SharedFile::SharedFile(Job& job, const std::string& path, Mode mode, const std::string& name)
    : job_(job), path_(mode == Mode::write ? job.broadcast(path) : path), name_(name.empty() ? path_ : name), mode_(mode) {
  job.together([this] {
    native_ = std::make_unique<Native>();
    // Opened by the system first: its errors say more than MPI's.
    native_->descriptor = ::open(path_.c_str(), (mode_ == Mode::write ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    if (native_->descriptor < 0)
      throw Error(ErrorKind::input, name_, "opening failed: " + std::generic_category().message(errno),
                  "every rank must see this file: use a file system that all hosts share");
  });
  if (!job.is_distributed() || job.is_fake()) return;
  ::close(std::exchange(native_->descriptor, -1));
  job.together([this] {
    const Job::Waiting waiting(job_, "MPI_File_open");
    const int access = mode_ == Mode::write ? MPI_MODE_WRONLY : MPI_MODE_RDONLY;
    call_mpi(job_, [&] {
      check_io(MPI_File_open(job_.native().control, path_.c_str(), access, MPI_INFO_NULL, &native_->file), name_, "opening");
    });
  });
}

SharedFile::~SharedFile() {
  call_mpi(job_, [this] {
    native_->sites.clear();
    native_->record.clear();
  });
}

void SharedFile::close() {
  int flushed = MPI_SUCCESS;
  if (mode_ == Mode::write && native_->file != MPI_FILE_NULL) {
    {
      const Job::Waiting waiting(job_, "MPI_File_sync");
      call_mpi(job_, [&] { flushed = MPI_File_sync(native_->file); });
    }
    job_.barrier();  // who waits here can name a rank that hangs in its flush; inside MPI_File_close nobody can
  }
  job_.together([this, flushed] {
    if (native_->descriptor >= 0 && ::close(std::exchange(native_->descriptor, -1)) != 0 && errno != EINTR && mode_ == Mode::write)
      throw_write_error(name_, "closing", errno);
    if (native_->file == MPI_FILE_NULL) return;
    const Job::Waiting waiting(job_, "MPI_File_close");
    int closed = MPI_SUCCESS;
    call_mpi(job_, [&] { closed = MPI_File_close(&native_->file); });
    check_io(flushed, name_, "flushing");
    check_io(closed, name_, "closing");
  });
  const std::uint64_t steps = job_.combined(native_->written.size(), Combine::maximum);
  for (std::uint64_t step = 0; step < steps; ++step)
    job_.together([&] {
      if (step < native_->written.size()) Native::require_written(path_, name_, native_->written[step]);
    });
}

void SharedFile::release() noexcept {
  if (native_->file == MPI_FILE_NULL) return;
  const Job::Waiting waiting(job_, "MPI_File_close");
  call_mpi(job_, [this] { MPI_File_close(&native_->file); });
}

template <bool Write, class Start, class Finish>
void SharedFile::transfer(SiteRecords records, std::span<const Box> boxes, Start&& start, Finish&& finish) try {
  std::vector<Box> slabs;
  job_.together([&] {
    const std::int64_t most = sites_a_slab(records.record_bytes);
    if constexpr (Write) {
      // What all ranks write in one call has no gaps, which a library might fill with what it has read before.
      slabs = slabs_of({{}, records.lattice}, most);
      for (Box& slab : slabs) slab = common(slab, boxes.front());
    } else {
      for (const Box& box : boxes) {
        const std::vector<Box> more = slabs_of(box, most);
        slabs.insert(slabs.end(), more.begin(), more.end());
      }
    }
  });
  std::array<std::uint64_t, 2> agreed{slabs.size(), Write && !job_.is_root() ? 0 : records.offset};
  job_.combine(agreed, Combine::maximum);
  records.offset = agreed[1];
  const bool by_mpi = native_->file != MPI_FILE_NULL;
  for (std::uint64_t step = 0; step < agreed[0]; ++step) {
    const bool mine = step < slabs.size() && volume(slabs[step].extents) > 0;  // else this rank comes along with nothing
    const Box slab = mine ? slabs[step] : Box({}, {1, 1, 1, 1});
    decltype(start(slab)) bytes;
    job_.together([&] {
      if (mine) bytes = start(slab);
      if (!by_mpi) return;
      call_mpi(job_, [&] {
        native_->describe(records, slab);
        if (mine && !Write) native_->require_length(name_, records, slab);
      });
    });
    job_.together([&] {
      if (by_mpi) {
        const Job::Waiting waiting(job_, Write ? "MPI_File_write_all" : "MPI_File_read_all");
        call_mpi(job_, [&] { native_->template move<Write>(name_, records.offset, bytes); });
        if (Write && mine) native_->written.push_back({records, slab, hash_of(bytes)});
      } else if (mine) {
        move_rows<Write>(name_, native_->descriptor, records, slab, bytes);
      }
      if (mine) finish(slab, bytes);
    });
  }
} catch (...) {  // from together(): on all ranks
  release();
  throw;
}

void SharedFile::read(const SiteRecords& records, const Box& box, std::span<std::byte> out) {
  transfer<false>(records, {&box, 1}, in_turn(records.record_bytes, out), nothing);
}

void SharedFile::write(const SiteRecords& records, const Box& box, std::span<const std::byte> bytes) {
  transfer<true>(records, {&box, 1}, in_turn(records.record_bytes, bytes), nothing);
}

void SharedFile::read_slabs(const SiteRecords& records, std::span<const Box> boxes, const Take& take) {
  std::vector<std::byte> buffer;
  transfer<false>(
      records, boxes,
      [&](const Box& slab) {
        buffer.resize(bytes_of(slab, records.record_bytes));
        return std::span(buffer);
      },
      [&](const Box& slab, std::span<std::byte> bytes) { take(slab, bytes); });
}

void SharedFile::write_slabs(const SiteRecords& records, const Box& box, const Fill& fill) {
  std::vector<std::byte> buffer;
  transfer<true>(
      records, {&box, 1},
      [&](const Box& slab) {
        buffer.resize(bytes_of(slab, records.record_bytes));
        fill(slab, buffer);
        return std::span<const std::byte>(buffer);
      },
      nothing);
}

}  // namespace quarkstar::runtime::mpi
