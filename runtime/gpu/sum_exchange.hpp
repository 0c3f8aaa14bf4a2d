#pragma once
// Sums that several GPUs, of a process or of the ranks of a host, make of theirs, inside the scalar step that all of
// them take.
#include "runtime/gpu/gpu_flags.hpp"
#include "runtime/graph/binned_sum.hpp"

#include <cstddef>
#include <cstdint>

namespace quarkstar::runtime {

/// Where the sums of scalar steps meet: two places, used in turn, for each device's in each device's memory. All
/// devices take the same exchanges in the same order, and each counts its own in its memory, because ranks capture and
/// replay their graphs when they like. A sum goes in words whose lower half is data and whose upper half is the number
/// of the exchange, so that nothing else need be waited for. What a device has done before the step, in whatever lane
/// the step has waited for, is visible to the others behind it.
///
/// Why two places suffice and nobody answers: a device sends for exchange n + 2, over what it had sent for n, when it
/// has had all words of n + 1. These the others send after their step of exchange n has ended, and with it all their
/// reading of n, because the exchanges of a device follow each other (in its main lane, in graphs that do so too). A
/// word that was left behind has another number; the halves repeat after 2^32 exchanges, for which a word would have to
/// be left alone exactly so long.
struct SumExchange {
  static constexpr int words_a_sum = sizeof(BinnedSum) / 4;
  static constexpr int most_devices = 16;
  GpuFlag* to[most_devices];  ///< this device's first place in each device's memory (its own is not used)
  const GpuFlag* from;        ///< [2][device][most_sums * words_a_sum] in this device's memory
  GpuFlag* count;             ///< in this device's memory: exchanges so far
  std::uint32_t* late;        ///< [device] in host memory: 1 while its words are waited for for more than a second, for a
                              ///< watchdog; or nullptr
  std::uint64_t patience_ns;  ///< a longer wait ends in a trap
  int devices, self, most_sums;
  QUARKSTAR_HD std::size_t place_words() const { return static_cast<std::size_t>(most_sums) * words_a_sum; }
  /// From a device's first place to its second.
  QUARKSTAR_HD std::size_t turn_words() const { return static_cast<std::size_t>(devices) * place_words(); }
};

}  // namespace quarkstar::runtime
