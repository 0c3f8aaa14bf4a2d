#pragma once
// How the two hermitian 6x6 blocks of a site are stored.
#include "runtime/gpu/host_device.hpp"

namespace quarkstar::clover {

/// Reals of a packed hermitian 6x6 matrix: its diagonal, then the entries (i, j), j < i, row by row, {re, im}. A site has two of them, of
/// spins 0 and 1 and of spins 2 and 3, with rows 3 spin + colour: 72 reals, as many as four links.
inline constexpr int block_reals = 36, blocks_per_site = 2;
/// Place of entry (i, j), j < i, among them.
QUARKSTAR_HD constexpr int packed_entry(int i, int j) { return 6 + 2 * (i * (i - 1) / 2 + j); }

}  // namespace quarkstar::clover
