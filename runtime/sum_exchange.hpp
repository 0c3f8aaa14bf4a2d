#pragma once
// Sums that several GPUs of a process make of theirs, inside the scalar step that all of them take.
#include <cstddef>

#include "runtime/binned_sum.hpp"
#include "runtime/gpu_flags.hpp"

namespace quarkstar::runtime {

/// Where the sums of one scalar step meet: a place for each device's in each device's memory, written once in a run of
/// the graph. A sum goes in words whose lower half is data and whose upper half says of which run they are, so that
/// nothing else need be waited for. What a device has done before the step, in whatever lane the step has waited for,
/// is visible to the others behind it.
struct SumExchange {
  static constexpr int words_a_sum = sizeof(BinnedSum) / 4;
  GpuFlag* to[most_gpu_flags];  ///< this device's place in each device's memory (its own is not used)
  const GpuFlag* from;          ///< [device][most_sums * words_a_sum] in this device's memory
  const GpuFlag* epoch;         ///< in this device's memory: the number of the run
  int devices, self, most_sums;
  std::size_t place_words() const { return static_cast<std::size_t>(most_sums) * words_a_sum; }
};

}  // namespace quarkstar::runtime
