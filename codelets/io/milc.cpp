#include "codelets/io/milc.hpp"

#include "codelets/io/text.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar::format {
namespace {

constexpr std::size_t magic_offset = 0;
constexpr std::size_t extents_offset = 4;
constexpr std::size_t time_stamp_offset = 20;
constexpr std::size_t site_order_offset = 84;
constexpr std::size_t sum29_offset = 88;
constexpr std::size_t sum31_offset = 92;
constexpr std::size_t v5_header_bytes = 96;
constexpr std::size_t v1_reals_offset = 20;
constexpr std::size_t v1_header_bytes = 28;

bool has_magic(std::span<const std::byte> bytes, ByteOrder order) {
  if (bytes.size() < sizeof(std::int32_t)) return false;
  const auto magic = load<std::int32_t>(bytes.data() + magic_offset, order);
  return magic == milc_v5_magic || magic == milc_v1_magic;
}

void read_v5_fields(const ByteSource& source, std::span<const std::byte> header, GaugeFileInfo& info) {
  const ByteOrder order = info.layout.byte_order;
  const auto site_order = load<std::int32_t>(header.data() + site_order_offset, order);
  if (site_order != 0) {
    throw Error(ErrorKind::input, at_offset(source, site_order_offset),
                fmt::format("only MILC files in lexicographic site order are read (order = {})", site_order),
                "save the lattice serially from MILC (save_serial), or copy the file again if it should be serial");
  }
  const std::string_view stamp(reinterpret_cast<const char*>(header.data() + time_stamp_offset), milc_time_stamp_bytes);
  info.header.emplace_back("time_stamp", printable(stamp.substr(0, stamp.find('\0'))));
  info.checksum_kind = ChecksumKind::milc;
  info.checksum_expected = true;
  info.checksums = unchecked_verdicts(info.checksum_kind);
  info.checksums[0].stored = load<std::uint32_t>(header.data() + sum29_offset, order);
  info.checksums[1].stored = load<std::uint32_t>(header.data() + sum31_offset, order);
}

void read_v1_fields(std::span<const std::byte> header, GaugeFileInfo& info) {
  for (std::size_t i = 0; i < 2; ++i) {
    const auto value = load<float>(header.data() + v1_reals_offset + 4 * i, info.layout.byte_order);
    info.header.emplace_back(fmt::format("c{}", i + 1), fmt::format("{}", value));
  }
  info.notes.push_back("MILC version 1 stores no checksum");
}

}  // namespace

bool is_milc(std::span<const std::byte> first_bytes) {
  return has_magic(first_bytes, ByteOrder::little) || has_magic(first_bytes, ByteOrder::big);
}

GaugeFileInfo parse_milc(const ByteSource& source) {
  const std::vector<std::byte> header = source.read_up_to(0, v5_header_bytes);
  if (!is_milc(header)) {
    throw Error(ErrorKind::input, at_offset(source, magic_offset), "no MILC magic number (20103 or 59354) is found here",
                "the file is damaged or of another format");
  }
  GaugeFileInfo info;
  info.path = source.name();
  info.layout.byte_order = has_magic(header, ByteOrder::little) ? ByteOrder::little : ByteOrder::big;
  info.layout.real_bytes = 4;
  const auto magic = load<std::int32_t>(header.data() + magic_offset, info.layout.byte_order);
  info.format = magic == milc_v5_magic ? GaugeFormat::milc_v5 : GaugeFormat::milc_v1;
  info.layout.offset = info.format == GaugeFormat::milc_v5 ? v5_header_bytes : v1_header_bytes;
  if (header.size() < info.layout.offset) {
    throw Error(ErrorKind::input, at_offset(source, header.size()),
                fmt::format("the file ends within its {}-byte header", info.layout.offset), "the file is cut short: copy it again");
  }
  std::array<std::int64_t, 4> extents{};
  for (std::size_t mu = 0; mu < 4; ++mu) {
    extents[mu] = load<std::int32_t>(header.data() + extents_offset + 4 * mu, info.layout.byte_order);
  }
  info.layout.extents = checked_extents(at_offset(source, extents_offset), extents);
  info.header.emplace_back("magic_number", fmt::format("{}", magic));
  if (info.format == GaugeFormat::milc_v5) {
    read_v5_fields(source, header, info);
  } else {
    read_v1_fields(header, info);
  }
  check_payload_length(source, info.layout);
  return info;
}

}  // namespace quarkstar::format
