#pragma once
// Memory bandwidth of this machine as the kernels see it, measured in the same run as whatever is compared with it.
#include "runtime/team.hpp"

namespace quarkstar::bench {

/// Best of several passes over arrays of doubles, bytes counted once each way, GB/s (1e9 bytes).
struct StreamResult {
  double triad = 0;            ///< a = b + s c with ordinary stores: 24 bytes an element (the read for ownership is not counted)
  double triad_streaming = 0;  ///< the same with stores that bypass the cache
  double copy_streaming = 0;   ///< a = b, 16 bytes an element
  double read = 0;             ///< sum of a, 8 bytes an element
  double best_triad() const { return triad > triad_streaming ? triad : triad_streaming; }
};

/// Runs on the team's threads; first touch by the thread that uses a part. bytes_per_array: three arrays of this size.
/// Definitions after McCalpin's STREAM.
StreamResult measure_stream(const runtime::Team& team, std::size_t bytes_per_array, int repetitions);

/// What the arithmetic units can do, GFLOP/s: fused multiply-adds of whole registers that wait for nothing, two flop a number.
struct FusedPeak {
  double single = 0, double_ = 0;  ///< 0: not known (simulated machines)
};
FusedPeak measure_fused_peak(const runtime::Team& team, int repetitions);

}  // namespace quarkstar::bench
