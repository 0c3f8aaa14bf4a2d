#pragma once
// Checksums of a field whose parts are on many ranks.
#include "codelets/io/checksum.hpp"
#include "runtime/cut/coord.hpp"
#include "runtime/mpi/job.hpp"

namespace quarkstar::format {

/// Adds the records of a box, lexicographic within it, under their numbers in the lattice.
void add_box(PayloadChecksum& sum, const Box& box, const Coord& lattice, std::span<const std::byte> bytes);

/// The sum over the whole lattice from those of all ranks' parts. Collective.
PayloadChecksum over_ranks(runtime::mpi::Job& job, const PayloadChecksum& mine);

}  // namespace quarkstar::format
