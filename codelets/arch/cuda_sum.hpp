#pragma once
// Sums on a GPU: where the blocks of a kernel gather, and how a kernel's sums become a task's partial sums.
#include <cstdint>

#include "runtime/binned_sum.hpp"

namespace quarkstar::cuda {

/// One sum while a kernel runs: every limb of every window at its own place, so that blocks add with integer atomics in any order.
/// Taking the three limbs below the highest window gives the bits of a BinnedSum.
struct SumTable {
  static constexpr int limbs = 2 * 31 + 3;  // windows -31..31, two limbs below
  unsigned long long limb[limbs];
  static constexpr int window_bias = 64;
  int window;   ///< highest so far plus window_bias; 0: nothing yet, so that zeroed memory is an empty table
  int poisoned;
};

/// Tables of one CUDA worker; zero between kernels (finish_sums leaves them so). Kernels of a worker follow each other.
inline constexpr int most_sums = 1024;

}  // namespace quarkstar::cuda
