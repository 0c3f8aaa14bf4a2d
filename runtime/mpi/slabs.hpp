#pragma once
// Files are read and written piece by piece.
#include "runtime/cut/coord.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quarkstar::runtime::mpi {

/// A box cut into boxes of `most` sites or fewer (at least one), one behind the other in the box's lexicographic order: slabs of t, or
/// where a slice of one t has more sites, of z, and so on.
std::vector<Box> slabs_of(const Box& box, std::int64_t most);

/// Sites that move in one call of MPI: $QUARKSTAR_IO_SLAB bytes, by default 128 MiB, at most 1 GiB. Far from what MPI counts in int, and
/// some seconds on a slow file system. Throws Error(input) where the variable is no number.
std::int64_t sites_a_slab(std::size_t record_bytes);

}  // namespace quarkstar::runtime::mpi
