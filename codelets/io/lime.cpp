#include "codelets/io/lime.hpp"

#include "codelets/io/byteorder.hpp"
#include "codelets/io/text.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace quarkstar::format {
namespace {

constexpr std::uint32_t lime_magic = 0x456789ab;
constexpr std::uint16_t lime_version = 1;
constexpr std::uint16_t message_begin_flag = 0x8000;
constexpr std::uint16_t message_end_flag = 0x4000;
constexpr std::size_t lime_header_bytes = 144;
constexpr std::size_t version_offset = 4;
constexpr std::size_t flags_offset = 6;
constexpr std::size_t length_offset = 8;
constexpr std::size_t type_offset = 16;
constexpr std::size_t type_bytes = 128;
constexpr std::size_t most_records = 1'000'000;

constexpr const char* damaged = "the file is damaged: copy it again";

std::uint64_t padding(std::uint64_t length) { return (8 - length % 8) % 8; }

LimeRecord read_record_header(const ByteSource& source, std::uint64_t offset) {
  std::array<std::byte, lime_header_bytes> header;
  source.read(offset, header);
  if (const auto magic = load<std::uint32_t>(header.data(), ByteOrder::big); magic != lime_magic) {
    throw Error(ErrorKind::input, at_offset(source, offset),
                fmt::format("no LIME record starts here (magic = {:08x} instead of {:08x})", magic, lime_magic), damaged);
  }
  if (const auto version = load<std::uint16_t>(header.data() + version_offset, ByteOrder::big); version != lime_version) {
    throw Error(ErrorKind::input, at_offset(source, offset + version_offset),
                fmt::format("only LIME version {} is known (version = {})", lime_version, version), damaged);
  }
  const auto flags = load<std::uint16_t>(header.data() + flags_offset, ByteOrder::big);
  LimeRecord record;
  record.header_offset = offset;
  record.data_offset = offset + lime_header_bytes;
  record.length = load<std::uint64_t>(header.data() + length_offset, ByteOrder::big);
  record.message_begin = (flags & message_begin_flag) != 0;
  record.message_end = (flags & message_end_flag) != 0;
  const std::string_view type(reinterpret_cast<const char*>(header.data() + type_offset), type_bytes);
  record.type = type.substr(0, type.find('\0'));
  if (record.type.empty() || !std::all_of(record.type.begin(), record.type.end(), [](char c) { return c > 0x20 && c < 0x7f; })) {
    throw Error(ErrorKind::input, at_offset(source, offset + type_offset),
                fmt::format("the LIME record type is not printable text (type = {})", printable(record.type)), damaged);
  }
  if (record.length > source.size() - record.data_offset) {
    throw Error(ErrorKind::input, at_offset(source, offset + length_offset),
                fmt::format("the LIME record {} claims {} bytes, but only {} follow", record.type, record.length,
                            source.size() - record.data_offset),
                "the file is cut short or damaged: copy it again");
  }
  return record;
}

}  // namespace

bool is_lime(std::span<const std::byte> first_bytes) {
  return first_bytes.size() >= 4 && load<std::uint32_t>(first_bytes.data(), ByteOrder::big) == lime_magic;
}

std::vector<LimeRecord> lime_records(const ByteSource& source) {
  std::vector<LimeRecord> records;
  for (std::uint64_t offset = 0; offset < source.size();) {
    if (records.size() == most_records) {
      throw Error(ErrorKind::input, at_offset(source, offset), fmt::format("more than {} LIME records", most_records), damaged);
    }
    records.push_back(read_record_header(source, offset));
    const LimeRecord& last = records.back();
    offset = last.data_offset + last.length + padding(last.length);
  }
  return records;
}

std::string lime_text(const ByteSource& source, const LimeRecord& record, std::size_t limit) {
  if (record.length > limit) {
    throw Error(ErrorKind::input, at_offset(source, record.header_offset),
                fmt::format("the text record {} is unreasonably long ({} bytes, limit {})", record.type, record.length, limit), damaged);
  }
  std::string text = source.read_text(record.data_offset, static_cast<std::size_t>(record.length));
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

void LimeWriter::text_record(std::string_view type, std::string_view text, bool message_begin, bool message_end) {
  open_record(type, text.size() + 1, message_begin, message_end);
  file_.append(text);
  file_.append(std::string_view("\0", 1));
  close_record();
}

void LimeWriter::open_record(std::string_view type, std::uint64_t length, bool message_begin, bool message_end) {
  std::array<std::byte, lime_header_bytes> header{};
  const unsigned flags = (message_begin ? message_begin_flag : 0U) | (message_end ? message_end_flag : 0U);
  store(header.data(), lime_magic, ByteOrder::big);
  store(header.data() + version_offset, lime_version, ByteOrder::big);
  store(header.data() + flags_offset, static_cast<std::uint16_t>(flags), ByteOrder::big);
  store(header.data() + length_offset, length, ByteOrder::big);
  const std::string_view stored_type = type.substr(0, type_bytes - 1);
  std::transform(stored_type.begin(), stored_type.end(), header.begin() + type_offset, [](char c) { return std::byte(c); });
  file_.append(header);
  data_end_ = file_.size() + length;
}

std::uint64_t LimeWriter::leave_record(std::string_view type, std::uint64_t length, bool message_begin, bool message_end) {
  open_record(type, length, message_begin, message_end);
  return file_.leave_room(length);
}

void LimeWriter::close_record() {
  if (file_.size() != data_end_) {
    throw Error(ErrorKind::internal, file_.path(), "a LIME record does not have the length announced for it",
                "this is a defect: please report it");
  }
  // Every header starts at a multiple of 8, so padding the file position pads the record.
  constexpr std::array<std::byte, 8> zeros{};
  file_.append(std::span(zeros).first(static_cast<std::size_t>(padding(data_end_))));
}

}  // namespace quarkstar::format
