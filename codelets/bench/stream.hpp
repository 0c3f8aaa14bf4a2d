#pragma once
// Memory bandwidth and arithmetic of this machine as the kernels see them, measured in the same run as whatever is compared with them.
#include "runtime/system/team.hpp"

#include <cstddef>
#include <vector>

namespace quarkstar::bench {

/// Best of several passes over arrays of doubles, bytes counted once each way, GB/s (1e9 bytes).
struct StreamResult {
  double triad = 0;            ///< a = b + s c with ordinary stores: 24 bytes an element (the read for ownership is not counted)
  double triad_streaming = 0;  ///< the same with stores that bypass the cache
  double copy_streaming = 0;   ///< a = b, 16 bytes an element
  double read = 0;             ///< sum of a, 8 bytes an element
  double best_triad() const { return triad > triad_streaming ? triad : triad_streaming; }
};

/// What the teams of these CPU workers of the session reach together, where their kernels run: each on its own worker's thread and cores
/// (runtime::on_workers). All begin each pass at once, and it has ended when the last team is done. First touch by the thread that uses a
/// part. bytes_per_array: three arrays of this size for each worker, smaller ones where together they would be more than half of the memory
/// that the host has left. Nothing else should run. Definitions after McCalpin's STREAM. Throws Error(environment) where there is not
/// enough memory.
StreamResult measure_stream(const std::vector<int>& workers, std::size_t bytes_per_array, int repetitions);

/// The same of a team that the calling thread commands.
StreamResult measure_stream(const runtime::Team& team, std::size_t bytes_per_array, int repetitions);

/// What the arithmetic units can do, GFLOP/s: fused multiply-adds of whole registers that wait for nothing, two flop a number.
struct FusedPeak {
  double single = 0, double_ = 0;  ///< 0: not known (simulated machines)
};
/// Of these CPU workers together, as measure_stream().
FusedPeak measure_fused_peak(const std::vector<int>& workers, int repetitions);

}  // namespace quarkstar::bench
