#pragma once
// Configuration files that begin with four extents and the plaquette: openQCD's and DDalphaAMG's.
#include "codelets/io/gauge_info.hpp"

namespace quarkstar::format {

/// True if the file starts with four extents in the range that openQCD can have written. The format has no magic
/// number, so this is asked last.
bool may_be_openqcd(std::span<const std::byte> first_bytes);

/// Reads the header, 24 bytes, little-endian: four extents (32-bit integers), plaquette (mean Re tr over all planes, 0..3). All extents
/// are even. There is no checksum; the plaquette is what a reader can compare. Two programs write it:
///   openQCD     extents T,X,Y,Z; the odd sites, z fastest, then y, x, t; 8 links each (SiteOrder::openqcd)
///   DDalphaAMG  extents T,Z,Y,X; all sites, x fastest, then y, z, t; 4 links each, mu = t,z,y,x
/// Which of them did is decided by the plaquette of the links read in either order, on a sample of 64 sites, and on four times as many
/// while the sample leaves it open, up to 65536; a sample of the whole lattice has to have the plaquette of the header. Where both orders
/// fit (all links are 1) it is openQCD's. Throws Error(input), also where neither fits.
/// Source: openQCD's archive.c (write_cnfg), DDalphaAMG's io.c (read_conf).
GaugeFileInfo parse_openqcd(const ByteSource& source);

}  // namespace quarkstar::format
