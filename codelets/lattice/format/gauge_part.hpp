#pragma once
// Reading a gauge configuration on many ranks, each its own part.
#include "codelets/lattice/format/gauge_file.hpp"
#include "runtime/decomposition.hpp"

namespace quarkstar::format {

/// Sites that a rank needs: its part and, in every direction that is cut between ranks, one layer before and one behind it, over the
/// lattice's edges too (the corners between layers hold unit matrices: no hop and no plaquette needs them).
Box box_with_border(const runtime::Decomposition& decomposition);

/// Collective. Every rank reads its part and the layers around it and checks what is in its part; the checksums of the parts are combined
/// without gathering the field, and the layers compared with what their owners have. Files in openQCD's order are read whole by every rank. Throws what read_gauge() throws, on all ranks.
GaugeRead read_gauge_part(const std::string& path, const GaugeReadOptions& options, const runtime::Decomposition& decomposition);

}  // namespace quarkstar::format
