#pragma once
// MILC's own lattice files, versions 5 and 1: a short binary header, then single-precision links.
#include "codelets/io/gauge_info.hpp"

namespace quarkstar::format {

constexpr std::int32_t milc_v5_magic = 20103;
constexpr std::int32_t milc_v1_magic = 59354;
constexpr std::size_t milc_time_stamp_bytes = 64;

/// True if the file starts with the magic number of version 5 or 1 in either byte order.
bool is_milc(std::span<const std::byte> first_bytes);

/// Reads the header; the byte order is the one in which the magic number is right.
/// Version 5, 96 bytes: magic, extents (4 integers), time stamp (64 characters), site order, sum29, sum31; all integers
/// 32 bit. Version 1, 28 bytes: magic, extents, two reals; no checksum. Only site order 0 (lexicographic) is read.
/// Throws Error(input) naming the offset. Source: MILC's io_lat4.c.
GaugeFileInfo parse_milc(const ByteSource& source);

}  // namespace quarkstar::format
