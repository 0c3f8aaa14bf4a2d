#include "codelets/io/openqcd.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <cmath>

namespace quarkstar::format {
namespace {

constexpr std::size_t plaquette_offset = 16;
constexpr std::size_t header_bytes = 24;

// The plaquette is a mean over 6 V terms in double precision.
constexpr double plaquette_tolerance = 1e-12;

std::array<std::int64_t, 4> stored_extents(std::span<const std::byte> header) {
  std::array<std::int64_t, 4> txyz{};
  for (std::size_t i = 0; i < 4; ++i) txyz[i] = load<std::int32_t>(header.data() + 4 * i, ByteOrder::little);
  return {txyz[1], txyz[2], txyz[3], txyz[0]};
}

}  // namespace

bool may_be_openqcd(std::span<const std::byte> first_bytes) {
  if (first_bytes.size() < plaquette_offset) return false;
  constexpr std::int64_t largest = 1 << 16;
  for (const std::int64_t extent : stored_extents(first_bytes)) {
    if (extent < 1 || extent > largest) return false;
  }
  return true;
}

GaugeFileInfo parse_openqcd(const ByteSource& source) {
  std::array<std::byte, header_bytes> header{};
  source.read(0, header);
  GaugeFileInfo info;
  info.path = source.name();
  info.format = GaugeFormat::openqcd;
  info.layout.byte_order = ByteOrder::little;
  info.layout.site_order = SiteOrder::openqcd;
  info.layout.offset = header_bytes;
  info.layout.extents = checked_extents(at_offset(source, 0), stored_extents(header));
  for (const int extent : info.layout.extents) {
    if (extent % 2 == 0) continue;
    throw Error(ErrorKind::input, at_offset(source, 0),
                fmt::format("openQCD lattices have even extents (extents = {})", describe(info.layout.extents)),
                "the file is damaged or of another format");
  }
  check_payload_length(source, info.layout);
  const auto plaquette = load<double>(header.data() + plaquette_offset, ByteOrder::little);
  // |Re tr U| <= 3 for a unitary matrix.
  if (!(std::abs(plaquette) <= 3.0)) {
    throw Error(ErrorKind::input, at_offset(source, plaquette_offset),
                fmt::format("the stored plaquette is not in -3..3 (plaquette = {})", plaquette),
                "the file is damaged or of another format");
  }
  info.plaquette = StoredObservable{plaquette / 3.0, plaquette_tolerance};
  info.header.emplace_back("plaquette", fmt::format("{:.17g}", plaquette));
  info.notes.push_back("openQCD stores no checksum; compare the plaquette");
  return info;
}

}  // namespace quarkstar::format
