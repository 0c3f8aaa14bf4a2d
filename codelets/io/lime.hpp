#pragma once
// LIME: the container of SciDAC and ILDG files, a sequence of typed records.
#include "codelets/io/byte_source.hpp"
#include "runtime/system/atomic_file.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace quarkstar::format {

/// One record: a 144-byte big-endian header (magic 0x456789ab, version 1, flags, length, 128-character type), then the
/// data, padded to a multiple of 8 bytes. Source: C-LIME's manual.
struct LimeRecord {
  std::uint64_t header_offset = 0;
  std::uint64_t data_offset = 0;
  std::uint64_t length = 0;
  bool message_begin = false;
  bool message_end = false;
  std::string type;
};

bool is_lime(std::span<const std::byte> first_bytes);

/// All records in file order; reads only their headers. Padding may be missing at the very end of the file.
/// Throws Error(input) naming the offset if a record header is damaged or a record ends behind the end of the file.
std::vector<LimeRecord> lime_records(const ByteSource& source);

/// The data of a text record without trailing NULs. Throws Error(input) if it is longer than `limit` bytes.
std::string lime_text(const ByteSource& source, const LimeRecord& record, std::size_t limit);

/// Writes records at the end of a file. open_record() ... data ... close_record() for data that come in pieces.
class LimeWriter {
 public:
  explicit LimeWriter(AtomicFile& file) : file_(file) {}

  AtomicFile& file() const noexcept { return file_; }

  /// A whole text record. The terminating NUL is stored, as QIO does.
  void text_record(std::string_view type, std::string_view text, bool message_begin, bool message_end);

  /// Header of a record whose data the caller appends to the file next.
  void open_record(std::string_view type, std::uint64_t length, bool message_begin, bool message_end);
  /// The same for a record whose data others write: leaves room for them and returns its offset. Then close_record().
  std::uint64_t leave_record(std::string_view type, std::uint64_t length, bool message_begin, bool message_end);
  /// Padding; checks that exactly the announced length was appended.
  void close_record();

 private:
  AtomicFile& file_;
  std::uint64_t data_end_ = 0;
};

}  // namespace quarkstar::format
