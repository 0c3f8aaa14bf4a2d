#pragma once
// Reading a gauge configuration on many ranks, each its own part.
#include "codelets/io/gauge_file.hpp"
#include "runtime/cut/decomposition.hpp"

namespace quarkstar::format {

/// Sites that hops and plaquettes of a rank need: its part and, in every direction that is cut between ranks, one layer before and one
/// behind it, over the lattice's edges too.
Box box_with_border(const runtime::Decomposition& decomposition);

/// Collective. Every rank reads its box_with_border(), and checks what is in its part; the checksums of the parts are combined
/// without gathering the field, and what surrounds a part is compared with what its owners have. Files in openQCD's order are read whole by
/// every rank. Throws what read_gauge() throws, on all ranks.
GaugeRead read_gauge_part(const std::string& path, const GaugeReadOptions& options, const runtime::Decomposition& decomposition);

}  // namespace quarkstar::format
