#include "codelets/io/nersc.hpp"

#include "codelets/io/text.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace quarkstar::format {
namespace {

constexpr std::string_view begin_mark = "BEGIN_HEADER";
constexpr std::string_view end_mark = "END_HEADER";
constexpr std::size_t longest_header = 64 * 1024;

constexpr double plaquette_tolerance = 1e-5;
constexpr double link_trace_tolerance = 1e-6;

struct HeaderLine {
  std::string key;
  std::string value;
  int number;
};

struct NerscHeader {
  std::string file;
  std::vector<HeaderLine> lines;
  std::uint64_t bytes = 0;

  const HeaderLine* find(std::string_view key) const {
    const auto line = std::find_if(lines.begin(), lines.end(), [&](const HeaderLine& l) { return l.key == key; });
    return line == lines.end() ? nullptr : &*line;
  }

  const HeaderLine& require(std::string_view key) const {
    if (const HeaderLine* line = find(key)) return *line;
    throw Error(ErrorKind::input, file, fmt::format("the NERSC header has no {}", key),
                fmt::format("add the line `{} = ...` before {}", key, end_mark));
  }

  [[noreturn]] void reject(const HeaderLine& line, std::string_view expected) const {
    throw Error(ErrorKind::input, fmt::format("{}:{}", file, line.number),
                fmt::format("{} is not {} ({} = {})", line.key, expected, line.key, printable(line.value)),
                "the header is damaged or of a kind that is not supported: copy the file again");
  }
};

void add_line(NerscHeader& header, std::string_view text, int number) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) {
    if (trim(text).empty()) return;
    throw Error(ErrorKind::input, fmt::format("{}:{}", header.file, number),
                fmt::format("a NERSC header line must read KEY = VALUE (line = {})", printable(text)),
                "the header is damaged: copy the file again");
  }
  HeaderLine line{std::string(trim(text.substr(0, equals))), std::string(trim(text.substr(equals + 1))), number};
  if (const HeaderLine* earlier = header.find(line.key); earlier != nullptr && earlier->value != line.value) {
    throw Error(ErrorKind::input, fmt::format("{}:{}", header.file, number),
                fmt::format("{} is given twice with different values ({} = {} and {})", printable(line.key), printable(line.key),
                            printable(earlier->value), printable(line.value)),
                "the header is damaged: copy the file again");
  }
  header.lines.push_back(std::move(line));
}

NerscHeader read_header(const ByteSource& source) {
  const std::vector<std::byte> bytes = source.read_up_to(0, longest_header);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  NerscHeader header{source.name(), {}, 0};
  std::size_t position = 0;
  for (int number = 1;; ++number) {
    const auto end = text.find('\n', position);
    if (end == std::string_view::npos) {
      throw Error(ErrorKind::input, source.name(), fmt::format("the NERSC header has no {} line within {} bytes", end_mark, bytes.size()),
                  "the file is cut short or damaged: copy it again");
    }
    const std::string_view line = text.substr(position, end - position);
    position = end + 1;
    if (trim(line) == end_mark) break;
    if (number > 1) {
      add_line(header, line, number);
    } else if (trim(line) != begin_mark) {
      throw Error(ErrorKind::input, source.name() + ":1", fmt::format("the first line is not {}", begin_mark),
                  "the header is damaged: copy the file again");
    }
  }
  header.bytes = position;
  return header;
}

int stored_rows(const NerscHeader& header) {
  const HeaderLine& line = header.require("DATATYPE");
  if (line.value == "4D_SU3_GAUGE") return 2;
  if (line.value == "4D_SU3_GAUGE_3x3" || line.value == "4D_SU3_GAUGE_3X3") return 3;
  header.reject(line, "4D_SU3_GAUGE or 4D_SU3_GAUGE_3x3");
}

Coord extents(const NerscHeader& header) {
  std::array<std::int64_t, 4> values{};
  for (std::size_t mu = 0; mu < 4; ++mu) {
    const HeaderLine& line = header.require(fmt::format("DIMENSION_{}", mu + 1));
    const auto value = parse_integer(line.value);
    if (!value) header.reject(line, "an integer");
    values[mu] = *value;
  }
  return checked_extents(fmt::format("{}:{}", header.file, header.require("DIMENSION_1").number), values);
}

/// Sets real width and byte order; returns false if the header leaves the byte order open.
bool read_floating_point(const NerscHeader& header, PayloadLayout& layout) {
  const HeaderLine& line = header.require("FLOATING_POINT");
  std::string_view value = line.value;
  if (value.starts_with("IEEE32")) {
    layout.real_bytes = 4;
  } else if (value.starts_with("IEEE64")) {
    layout.real_bytes = 8;
  } else {
    header.reject(line, "IEEE32 or IEEE64, alone or with BIG or LITTLE");
  }
  value.remove_prefix(6);
  if (value == "BIG") {
    layout.byte_order = ByteOrder::big;
  } else if (value == "LITTLE") {
    layout.byte_order = ByteOrder::little;
  } else if (!value.empty()) {
    header.reject(line, "IEEE32 or IEEE64, alone or with BIG or LITTLE");
  }
  return !value.empty();
}

void guess_byte_order(const ByteSource& source, GaugeFileInfo& info) {
  std::vector<std::byte> link(info.layout.link_bytes());
  source.read(info.layout.offset, link);
  PayloadLayout other = info.layout;
  info.layout.byte_order = ByteOrder::little;
  other.byte_order = ByteOrder::big;
  if (norm_deviation(other, link) < norm_deviation(info.layout, link)) info.layout = other;
  info.notes.push_back(fmt::format("FLOATING_POINT names no byte order; {}-endian makes the first link's rows unit vectors",
                                   to_string(info.layout.byte_order)));
}

std::optional<StoredObservable> observable(const NerscHeader& header, std::string_view key, double tolerance) {
  const HeaderLine* line = header.find(key);
  if (line == nullptr) return std::nullopt;
  const auto value = parse_real(line->value);
  if (!value) header.reject(*line, "a finite number");
  return StoredObservable{*value, tolerance};
}

void note_boundaries(const NerscHeader& header, GaugeFileInfo& info) {
  for (int mu = 1; mu <= 4; ++mu) {
    const HeaderLine* line = header.find(fmt::format("BOUNDARY_{}", mu));
    if (line == nullptr || line->value == "PERIODIC") continue;
    info.notes.push_back(fmt::format("{} = {}: the links are used as stored", line->key, printable(line->value)));
  }
}

}  // namespace

bool is_nersc(std::span<const std::byte> first_bytes) {
  return first_bytes.size() >= begin_mark.size() && std::memcmp(first_bytes.data(), begin_mark.data(), begin_mark.size()) == 0;
}

GaugeFileInfo parse_nersc(const ByteSource& source) {
  const NerscHeader header = read_header(source);
  GaugeFileInfo info;
  info.path = source.name();
  info.format = GaugeFormat::nersc;
  info.layout.rows = stored_rows(header);
  info.layout.extents = extents(header);
  info.layout.offset = header.bytes;
  const bool order_known = read_floating_point(header, info.layout);
  check_payload_length(source, info.layout);
  if (!order_known) guess_byte_order(source, info);

  info.checksum_kind = ChecksumKind::nersc;
  info.checksum_expected = true;
  info.checksums = unchecked_verdicts(info.checksum_kind);
  if (const HeaderLine* line = header.find("CHECKSUM")) {
    info.checksums[0].stored = parse_hex32(line->value);
    if (!info.checksums[0].stored) header.reject(*line, "a hexadecimal 32-bit number");
  }
  info.plaquette = observable(header, "PLAQUETTE", plaquette_tolerance);
  info.link_trace = observable(header, "LINK_TRACE", link_trace_tolerance);
  if (info.layout.rows == 2) info.notes.push_back("two rows are stored; the third is conj(row 0 x row 1)");
  note_boundaries(header, info);
  for (const HeaderLine& line : header.lines) info.header.emplace_back(line.key, line.value);
  return info;
}

}  // namespace quarkstar::format
