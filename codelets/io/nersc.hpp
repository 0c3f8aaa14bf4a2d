#pragma once
// NERSC archive format ("Gauge Connection"): a text header, then the links.
#include "codelets/io/gauge_info.hpp"

namespace quarkstar::format {

/// True if the file starts like a NERSC archive.
bool is_nersc(std::span<const std::byte> first_bytes);

/// Reads the header: KEY = VALUE lines between BEGIN_HEADER and END_HEADER, of which DATATYPE, DIMENSION_1..4, CHECKSUM
/// and FLOATING_POINT are needed. DATATYPE 4D_SU3_GAUGE stores two rows, 4D_SU3_GAUGE_3x3 three. FLOATING_POINT IEEE32
/// and IEEE64 without a byte order are read either way: writers disagree, so the order in which the first link has unit
/// rows is taken. PLAQUETTE and LINK_TRACE are mean Re tr / 3. Throws Error(input) naming the header line. Source: the
/// Gauge Connection's file format page; tolerances as in Grid's NerscIO.
GaugeFileInfo parse_nersc(const ByteSource& source);

}  // namespace quarkstar::format
