#pragma once
// Reading parts of a field on many ranks, slice after slice.
#include "runtime/mpi/shared_file.hpp"

#include <functional>
#include <span>

namespace quarkstar::format {

/// Collective. Reads each of this rank's slices, boxes inside the lattice, and hands over its records, x fastest: the raw bytes never need more
/// memory than one slice. Ranks may have different numbers of slices, also none. `each` does not throw, or others would wait for ever.
void read_slices(runtime::mpi::Job& job, runtime::mpi::SharedFile& file, const runtime::mpi::SiteRecords& records, std::span<const Box> slices,
                 const std::function<void(const Box& slice, std::span<const std::byte> bytes)>& each);

}  // namespace quarkstar::format
