#pragma once
// Output files that are either complete or absent: written under a temporary name beside the target, then renamed.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace quarkstar {

/// Throws the error of an output that cannot be written; code: errno. One rule for the kind: a wrong name (no such directory, a
/// directory, too long) is input, what the machine refuses (permission, space) is environment.
[[noreturn]] void throw_write_error(const std::string& path, const std::string& action, int code);

/// Makes a file's new name survive a crash of the machine; a file system that cannot do this does not make the data wrong.
void flush_name(const std::string& file);

/// Removes the temporary files of writers in this directory that were killed. meant: whether it is about files of that name, which nobody
/// may be writing meanwhile. What cannot be removed stays.
void remove_leftovers(const std::string& directory, const std::function<bool(std::string_view name)>& meant);

/// A file that appears under its name only once it is complete.
///
/// The data go to a hidden temporary file in the target's directory. commit() flushes it to disk (fsync) and renames it
/// over the target; without commit() the destructor removes it, so an exception or a signal handler that unwinds leaves
/// nothing behind. A symbolic link is followed: the file that it points to is replaced, the link stays. Errors: those of
/// throw_write_error(), and input for a target that is not a regular file.
class AtomicFile {
 public:
  /// Creates the temporary file. Fails at once where commit() would.
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Write behind everything appended so far.
  void append(std::span<const std::byte> bytes);
  void append(std::string_view text) { append(std::as_bytes(std::span(text.data(), text.size()))); }

  /// Room at the end for bytes that write_at() or other processes write, reserved; append() goes on behind it. Returns its offset.
  std::uint64_t leave_room(std::uint64_t bytes);

  /// Takes space on the disk now, where the file system can: a full disk is then an error here, and not one of another process, whose MPI
  /// library may keep it to itself.
  void reserve(std::uint64_t offset, std::uint64_t bytes);

  /// Write at a byte offset, independent of append(). Disjoint ranges may be written by several threads at once.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  /// Bytes appended so far: the offset of the next append().
  std::uint64_t size() const noexcept { return end_; }
  /// Where the bytes are until commit(), for other processes that write parts of them.
  const std::string& temporary() const noexcept { return temporary_; }
  /// The name given to the constructor.
  const std::string& path() const noexcept { return path_; }

  /// Make the file visible under its name. Nothing can be written afterwards.
  void commit();

 private:
  std::string path_;
  std::string target_;
  std::string temporary_;
  int descriptor_ = -1;
  std::uint64_t end_ = 0;
};

}  // namespace quarkstar
