#pragma once
// Where the blocks of a GPU kernel gather a sum.
#include "runtime/graph/binned_sum.hpp"

#include <cstdint>

namespace quarkstar::runtime {

/// One sum while a kernel runs: every limb of every window at its own place, so that warps add with integer atomics in any order. Many
/// warps end at the same time, so there are several places for the same number; a warp takes the one of its own number.
/// The three limbs below the highest window, added over the places, are the bits of a BinnedSum. Zeroed memory is an empty table.
struct alignas(16) SumTable {
  static constexpr int limbs = 2 * 31 + 3;  // windows -31..31, two limbs below
  struct Place {
    unsigned long long limb[limbs];
    /// A bit for each window that summands had (bit_of), and `poison` where one was no number: limbs of other windows are zero.
    unsigned long long seen;
    /// Limb 0, 1 or 2 of a sum with this window.
    QUARKSTAR_HD unsigned long long& limb_of(int window, int number) { return limb[window + 33 - number]; }
  };
  static constexpr unsigned long long poison = 1ull << 63;
  static QUARKSTAR_HD unsigned long long bit_of(int window) { return 1ull << (window - BinnedSum::lowest_window); }
  static constexpr int places = 32;  // lanes of a warp, which gathers them
  Place place[places];
};

/// Tables of one CUDA worker, 17 MB for each of its lanes; zero between kernels (finish_sums leaves them so). Kernels of a lane follow each
/// other.
inline constexpr int most_sums = 1024;

}  // namespace quarkstar::runtime
