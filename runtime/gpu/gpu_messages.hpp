#pragma once
// Messages between GPUs of several processes of one host: mailboxes in device memory that both can reach. Numbers of
// messages are counted on the devices, so that a CUDA graph that is replayed sends the next one each time.
#include "runtime/gpu/cuda.hpp"
#include "runtime/gpu/gpu_flags.hpp"
#include "runtime/gpu/host_device.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quarkstar::runtime {

/// One end of a mailbox, as the addresses of this process. It holds one message: the sender writes `data`, then sets `arrived`; the
/// receiver reads, then sets `consumed`.
struct Mailbox {
  void* data = nullptr;           ///< in the receiver's memory
  GpuFlag* arrived = nullptr;     ///< in the receiver's memory: messages that have come
  GpuFlag* consumed = nullptr;    ///< in the sender's memory: messages that have been read
  GpuFlag* count = nullptr;       ///< in this device's memory: messages that this end has sent, or read
  std::uint32_t* late = nullptr;  ///< in host memory: 1 while this end has waited for more than a second, for a watchdog
  std::uint64_t patience_ns = 0;  ///< a longer wait ends in a trap
};

/// Flags that different ranks write lie in different cache lines.
inline constexpr int flag_stride = 16;

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

/// Enqueues: words[i] <- a value that follows from seed and i, i < count; words may be in another device's memory.
void enqueue_known_words(std::uint64_t* words, std::uint64_t seed, std::size_t count, CudaStream stream);
/// The value of a word, which names its place: any two words differ, whoever sent them.
QUARKSTAR_HD std::uint64_t known_word(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = (seed << 32) + index + 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  return z ^ (z >> 27);
}

}  // namespace quarkstar::runtime
