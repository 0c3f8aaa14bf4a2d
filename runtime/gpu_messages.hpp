#pragma once
// Messages between GPUs of several processes of one host: mailboxes in device memory that both can reach, and sums over them. Numbers of
// messages are counted on the devices, so that a CUDA graph that is replayed sends the next one each time.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/binned_sum.hpp"
#include "runtime/cuda.hpp"
#include "runtime/gpu_flags.hpp"
#include "runtime/graph_status.hpp"

namespace quarkstar::runtime {

/// One end of a mailbox, as the addresses of this process. It holds one message: the sender writes `data`, then sets `arrived`; the
/// receiver reads, then sets `consumed`.
struct Mailbox {
  void* data = nullptr;         ///< in the receiver's memory
  GpuFlag* arrived = nullptr;   ///< in the receiver's memory: messages that have come
  GpuFlag* consumed = nullptr;  ///< in the sender's memory: messages that have been read
  GpuFlag* count = nullptr;     ///< in this device's memory: messages that this end has sent, or read
  std::uint32_t* late = nullptr;  ///< in host memory: 1 while this end has waited for more than a second, for a watchdog
  std::uint64_t patience_ns = 0;  ///< a longer wait ends in a trap
};

/// Loads the kernels below on the current device: where they are used, something may be waiting there already.
void load_gpu_messages();

/// The calls below enqueue one kernel for up to 16 mailboxes.
/// Before writing `data`: waits until the messages sent so far have been read.
void enqueue_room(const std::vector<Mailbox>& to, CudaStream stream);
/// After writing `data`: what the stream has done so far is visible to the receiver, then the message has come.
void enqueue_sent(const std::vector<Mailbox>& to, CudaStream stream);
/// Before reading `data`: waits for the next message.
void enqueue_arrival(const std::vector<Mailbox>& from, CudaStream stream);
/// After reading `data`: the sender may overwrite it.
void enqueue_consumed(const std::vector<Mailbox>& from, CudaStream stream);

/// Most ranks that add up over GPU memory.
inline constexpr int most_gpu_ranks = 16;

/// Where the sums of ranks meet: two slots for every rank in every rank's memory, used in turn. A rank that writes its sum n + 2 has seen
/// all sums n + 1, which others begin after they have read all sums n: nobody needs to say what has been read.
struct SumBoard {
  static constexpr int most_sums = 1024;
  BinnedSum* to[most_gpu_ranks];       ///< this rank's slots in each rank's memory
  GpuFlag* arrived_at[most_gpu_ranks]; ///< this rank's flag in each rank's memory
  const BinnedSum* from;               ///< [slot][rank][most_sums] in this device's memory
  const GpuFlag* arrived;              ///< [rank] in this device's memory, flag_stride apart
  GpuFlag* count;                      ///< in this device's memory: sums so far
  std::uint32_t* late;                 ///< [rank] in host memory, as in Mailbox
  std::uint64_t patience_ns;
  int ranks;
  /// BinnedSums from a slot to the next of the same rank.
  QUARKSTAR_HD std::size_t slot_stride() const { return static_cast<std::size_t>(ranks) * most_sums; }
};
/// Flags that different ranks write lie in different cache lines.
inline constexpr int flag_stride = 16;

/// Partial sums that one exchange gathers.
inline constexpr int most_gpu_partials = 128;
struct GpuPartials {
  const BinnedSum* of[most_gpu_partials];
  int count = 0;
};

/// Enqueues: total[s] <- sum over all ranks and their partials of partial[s], s < sums; zeros from this rank where *idle is not zero.
/// idle: device memory, or nullptr. One block; the same bits on every rank, because merging has no order.
void enqueue_sum(const SumBoard& board, const GpuPartials& partials, BinnedSum* total, int sums, const std::int32_t* idle, CudaStream stream);

/// Enqueues: words[i] <- a value that follows from seed and i, i < count; words may be in another device's memory.
void enqueue_known_words(std::uint64_t* words, std::uint64_t seed, std::size_t count, CudaStream stream);
/// The value of a word, which names its place: any two words differ, whoever sent them.
QUARKSTAR_HD std::uint64_t known_word(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = (seed << 32) + index + 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  return z ^ (z >> 27);
}

}  // namespace quarkstar::runtime
