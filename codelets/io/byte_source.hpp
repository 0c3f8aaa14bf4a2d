#pragma once
// Where the bytes of an input file come from: a file on disk, or memory (tests, fuzzing).
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quarkstar::format {

/// Read-only bytes of known length with a name for messages. read() may be called by several threads at once.
class ByteSource {
 public:
  ByteSource(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  const std::string& name() const noexcept { return name_; }
  std::uint64_t size() const noexcept { return size_; }

  /// Fill `out` with the bytes from `offset` on. Throws Error(input) if the source ends before that.
  void read(std::uint64_t offset, std::span<std::byte> out) const;

  /// The bytes from `offset` on, at most `limit` of them, fewer at the end of the source.
  std::vector<std::byte> read_up_to(std::uint64_t offset, std::size_t limit) const;

  /// `length` bytes from `offset` on as text. The caller has checked that `length` is reasonable.
  std::string read_text(std::uint64_t offset, std::size_t length) const;

 protected:
  virtual void fetch(std::uint64_t offset, std::span<std::byte> out) const = 0;

 private:
  std::string name_;
  std::uint64_t size_;
};

/// Opens a regular file for reading.
/// Throws Error(input) if it is missing, a directory, not a regular file, unreadable or empty.
std::unique_ptr<ByteSource> open_file(const std::string& path);

/// A source over bytes in memory, which must outlive it.
std::unique_ptr<ByteSource> from_memory(std::string name, std::span<const std::byte> bytes);

/// "file: offset N", the place named in messages about binary data.
std::string at_offset(const ByteSource& source, std::uint64_t offset);

}  // namespace quarkstar::format
