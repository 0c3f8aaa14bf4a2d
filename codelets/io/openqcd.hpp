#pragma once
// openQCD configuration files: lattice extents, plaquette, then the links around the odd sites.
#include "codelets/io/gauge_info.hpp"

namespace quarkstar::format {

/// True if the file starts with four extents in the range that openQCD can have written. The format has no magic
/// number, so this is asked last.
bool may_be_openqcd(std::span<const std::byte> first_bytes);

/// Reads the header, 24 bytes, little-endian: extents T,X,Y,Z (32-bit integers), plaquette (mean Re tr over all planes,
/// 0..3). All extents are even. There is no checksum; the plaquette is what a reader can compare. Throws Error(input).
/// Source: openQCD's archive.c (write_cnfg).
GaugeFileInfo parse_openqcd(const ByteSource& source);

}  // namespace quarkstar::format
