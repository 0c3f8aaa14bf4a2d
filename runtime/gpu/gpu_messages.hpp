#pragma once
// Messages between GPUs of several processes: mailboxes in device memory that both can reach, or one in the device memory of each with host
// memory between them. Numbers of messages are counted on the devices, so that a CUDA graph that is replayed sends the next one each time.
#include "runtime/gpu/cuda.hpp"
#include "runtime/gpu/gpu_flags.hpp"
#include "runtime/gpu/host_device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace quarkstar::runtime {

/// Flags that different ranks write lie in different cache lines.
inline constexpr int flag_stride = 16;

/// One end of a mailbox, as the addresses of this process. It holds one message: the sender writes `data`, then sets `arrived`; the
/// receiver reads, then sets `consumed`.
/// Where the GPUs do not reach each other (`relay`), `data` is this device's memory. After it was written, the message is copied into host
/// memory; before it is read, out of it. That goes piece by piece: piece p has the p-th words from `arrived`, `consumed` and `count` on,
/// and is sent and received while others are still copied.
struct Mailbox {
  void* data = nullptr;           ///< in the receiver's memory
  GpuFlag* arrived = nullptr;     ///< in the receiver's memory: messages that have come
  GpuFlag* consumed = nullptr;    ///< in the sender's memory: messages that have been read
  GpuFlag* count = nullptr;       ///< in this device's memory: messages that this end has sent, or read
  std::uint32_t* late = nullptr;  ///< in host memory: 1 while this end has waited for more than a second, for a watchdog
  std::uint64_t patience_ns = 0;  ///< a longer wait ends in a trap
  std::byte* relay = nullptr;     ///< this end's host memory, where both flags are too; nullptr: the GPUs reach each other
  std::size_t bytes = 0;          ///< of a message that is relayed; there is room for a multiple of 16
  std::size_t piece = 0;          ///< bytes of its pieces but the last
};

/// Pieces of a relayed message of so many bytes. MPI takes some microseconds for each, and more of them do not pay: a hop of two faces of
/// 2.4 MB each way between processes of one host, by Open MPI with two copies, copies to and from a GPU added, took 541 us in one piece,
/// 484 in four, 483 in eight and 521 in sixteen; by Open MPI with one copy 613, 657, 689 and 694.
inline constexpr std::size_t most_relay_pieces = 4;
static_assert(most_relay_pieces <= flag_stride);
inline std::size_t relay_piece(std::size_t bytes) {
  constexpr std::size_t least = std::size_t{128} << 10, unit = 256 * most_relay_pieces;
  return std::max(least, (bytes + unit - 1) / unit * (unit / most_relay_pieces));
}
inline int relay_pieces(std::size_t bytes) { return static_cast<int>((bytes + relay_piece(bytes) - 1) / relay_piece(bytes)); }

/// Loads the kernels below on the current device: where they are used, something may be waiting there already.
void load_gpu_messages();

// The calls below enqueue one kernel for up to 16 mailboxes, or two where some are relayed. What they say of both ends holds between GPUs
// that reach each other; a relayed mailbox has room as soon as the kernels before have ended, is copied when it is sent, and is answered
// when it has been copied.

/// Before writing `data`: waits until the messages sent so far have been read.
void enqueue_room(const std::vector<Mailbox>& to, CudaStream stream);
/// After writing `data`: what the stream has done so far is visible to the receiver, then the message has come.
void enqueue_sent(const std::vector<Mailbox>& to, CudaStream stream);
/// Before reading `data`: waits for the next message.
void enqueue_arrival(const std::vector<Mailbox>& from, CudaStream stream);
/// After reading `data`: the sender may overwrite it.
void enqueue_consumed(const std::vector<Mailbox>& from, CudaStream stream);

/// Enqueues: words[i] <- a value that follows from seed and i, i < count; words may be in another device's memory.
void enqueue_known_words(std::uint64_t* words, std::uint64_t seed, std::size_t count, CudaStream stream);
/// The value of a word, which names its place: any two words differ, whoever sent them.
QUARKSTAR_HD std::uint64_t known_word(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = (seed << 32) + index + 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  return z ^ (z >> 27);
}

}  // namespace quarkstar::runtime
