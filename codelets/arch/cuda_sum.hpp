#pragma once
// Sums on a GPU: where the blocks of a kernel gather, and how a kernel's sums become a task's partial sums.
#include <cstdint>

#include "runtime/binned_sum.hpp"

namespace quarkstar::cuda {

/// One sum while a kernel runs: every limb of every window at its own place, so that warps add with integer atomics in any order. Many
/// warps end at the same time, so there are several places for the same number; a warp takes the one of its own number.
/// The three limbs below the highest window, added over the places, are the bits of a BinnedSum.
struct alignas(16) SumTable {
  static constexpr int limbs = 2 * 31 + 3;  // windows -31..31, two limbs below
  static constexpr int window_bias = 64;
  struct Place {
    unsigned long long limb[limbs];
    int window;   ///< highest so far plus window_bias; 0: nothing yet, so that zeroed memory is an empty table
    int poisoned;
    /// Limb 0, 1 or 2 of a sum with this window.
    QUARKSTAR_HD unsigned long long& limb_of(int of_window, int number) { return limb[of_window + 33 - number]; }
  };
  static constexpr int places = 32;  // lanes of a warp, which gathers them
  Place place[places];
};

/// Tables of one CUDA worker, 17 MB for each of its lanes; zero between kernels (finish_sums leaves them so). Kernels of a worker follow each other.
inline constexpr int most_sums = 1024;

}  // namespace quarkstar::cuda
